// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/network_injection.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/spinning_program.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

constexpr uint64_t kLateNs = 300'000;

} // namespace

LoopbackDelay load_device_delay()
{
	LoopbackDelay delay{spinning_program(BPF_PROG_TYPE_SCHED_CLS, stretched(kLateNs), TC_ACT_OK)};
	const InOtherNetwork inside(-1);
	delay.takes_a_filter = attach_by_link(delay.program.get()) == nullptr;
	return delay;
}

std::unique_ptr<Effect> put_in_device_delay(const Subject &subject)
{
	const LoopbackDelay &delay = subject.tools->device_delay.get();
	const InOtherNetwork inside(subject.receiver_pidfd);
	std::unique_ptr<Effect> attached =
		delay.takes_a_filter ? attach_by_filter(delay.program.get()) : attach_by_link(delay.program.get());
	if (!attached)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("the loopback device takes no BPF program for what it receives ({}): {}",
								  delay.takes_a_filter ? "clsact" : "TCX", std::strerror(errno)));
	return attached;
}

namespace {

constexpr int kLoopback = 1; // LOOPBACK_IFINDEX
constexpr uint32_t kTcxIngress = 46; // BPF_TCX_INGRESS, missing in Linux 6.1's headers

class Link : public Effect {
public:
	explicit Link(Fd link) : link_(std::move(link)) {}

private:
	const Fd link_;
};

bpf_tc_hook hook()
{
	bpf_tc_hook incoming{};
	incoming.sz = sizeof(incoming);
	incoming.ifindex = kLoopback;
	incoming.attach_point = BPF_TC_INGRESS;
	return incoming;
}

class Filter : public Effect {
public:
	explicit Filter(const bpf_tc_opts &attached) : network_(open_own_network())
	{
		own_.sz = sizeof(own_);
		own_.handle = attached.handle;
		own_.priority = attached.priority;
	}
	~Filter() override
	{
		try {
			const InOtherNetwork inside(network_.get());
			const bpf_tc_hook incoming = hook();
			bpf_tc_detach(&incoming, &own_);
		} catch (const Failure &) {
			// The namespace can't be entered any more: its filters go with it.
		}
	}

private:
	const Fd network_;
	bpf_tc_opts own_{};
};

} // namespace

std::unique_ptr<Effect> attach_by_link(int program)
{
	bpf_attr request{};
	request.link_create.prog_fd = static_cast<uint32_t>(program);
	request.link_create.target_ifindex = kLoopback;
	request.link_create.attach_type = kTcxIngress;
	Fd link(static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof(request))));
	return link ? std::make_unique<Link>(std::move(link)) : nullptr;
}

std::unique_ptr<Effect> attach_by_filter(int program)
{
	libbpf_set_print(nullptr);
	bpf_tc_hook incoming = hook();
	bpf_tc_opts options{};
	options.sz = sizeof(options);
	options.prog_fd = program;
	int error = bpf_tc_hook_create(&incoming);
	if (error == 0 || error == -EEXIST)
		error = bpf_tc_attach(&incoming, &options);
	errno = -error;
	return error == 0 ? std::make_unique<Filter>(options) : nullptr;
}

namespace {

void go_back(const Fd &home)
{
	if (setns(home.get(), CLONE_NEWNET))
		_exit(1); // later requests for other namespaces would act on this one
}

bool is_same(const Fd &one, const Fd &other)
{
	struct stat first{}, second{};
	return fstat(one.get(), &first) || fstat(other.get(), &second) ||
		   (first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

} // namespace

Fd open_own_network() { return Fd(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)); }

InOtherNetwork::InOtherNetwork(int process) : home_(open_own_network())
{
	if (!home_ || (process >= 0 ? setns(process, CLONE_NEWNET) : unshare(CLONE_NEWNET)))
		throw Failure(ExitCode::MachineCannot, fmt::format("a network namespace can't be {}: {}",
														   process >= 0 ? "entered" : "made", std::strerror(errno)));
	if (is_same(home_, open_own_network())) {
		go_back(home_);
		throw Failure(ExitCode::MachineCannot, "its processes have no network namespace of their own, and packets of "
											   "others on this machine are left alone");
	}
}

InOtherNetwork::~InOtherNetwork() { go_back(home_); }

} // namespace icepath::selftest
