// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/device_delay.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/pkt_cls.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "profiler/failure.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/spinning_program.h"

namespace icepath::selftest {
namespace {

constexpr uint64_t kLateNs = 300'000;
constexpr int kLoopback = 1; // LOOPBACK_IFINDEX

// Runs `work` in that network namespace, or in a new one without a process; 0, or what it failed with.
int in_network_of(int pidfd, const std::function<int()> &work)
{
	const pid_t child = fork();
	if (child == 0) {
		const bool there = pidfd >= 0 ? setns(pidfd, CLONE_NEWNET) == 0 : unshare(CLONE_NEWNET) == 0;
		_exit(there ? -work() : errno);
	}
	int status = 0;
	if (child < 0 || waitpid(child, &status, 0) != child)
		return ECHILD;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

bpf_tc_hook hook()
{
	bpf_tc_hook incoming{};
	incoming.sz = sizeof(incoming);
	incoming.ifindex = kLoopback;
	incoming.attach_point = BPF_TC_INGRESS;
	return incoming;
}

// sch_handle_ingress() comes after the device and before the protocol: a packet waits there on its way to the socket.
int attach(int program)
{
	libbpf_set_print(nullptr);
	bpf_tc_hook incoming = hook();
	bpf_tc_opts options{};
	options.sz = sizeof(options);
	options.prog_fd = program;
	if (const int error = bpf_tc_hook_create(&incoming); error && error != -EEXIST)
		return error;
	return bpf_tc_attach(&incoming, &options);
}

int take_away()
{
	bpf_tc_hook incoming = hook();
	incoming.attach_point = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS); // all of clsact
	return bpf_tc_hook_destroy(&incoming);
}

class DeviceDelay : public Effect {
public:
	explicit DeviceDelay(int pidfd) : pidfd_(pidfd)
	{
		const int program = spinning_program(BPF_PROG_TYPE_SCHED_CLS, stretched(kLateNs), TC_ACT_OK);
		if (const int error = in_network_of(pidfd, [&] { return attach(program); }))
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("the loopback device takes no BPF program for what it receives (clsact): {}",
									  std::strerror(error)));
	}
	~DeviceDelay() override
	{
		if (pidfd_ >= 0)
			in_network_of(pidfd_, take_away);
	}

private:
	const int pidfd_; // -1: only tried, in a namespace that is gone again
};

} // namespace

std::unique_ptr<Effect> put_in_device_delay(const Subject &subject)
{
	return std::make_unique<DeviceDelay>(subject.receiver_pidfd);
}

} // namespace icepath::selftest
