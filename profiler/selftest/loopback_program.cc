// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/loopback_program.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "profiler/failure.h"
#include "profiler/selftest/other_network.h"

namespace icepath::selftest {
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

} // namespace icepath::selftest
