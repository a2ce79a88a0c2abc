// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injector_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <span>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

constexpr int kCalls[] = {
	// Requests, and the descriptors that come with them
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(close),
	SCMP_SYS(close_range),
	SCMP_SYS(pidfd_open),
	// Tasks that take time from workers
	SCMP_SYS(pipe2),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(setpriority),
	SCMP_SYS(wait4),
	SCMP_SYS(waitid),
	// An interrupt's timer
	SCMP_SYS(perf_event_open),
	// Files of /proc, /sys and control groups; open() only reads, see below
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(lseek),
	SCMP_SYS(_llseek),
	SCMP_SYS(fstat),
	SCMP_SYS(fstat64),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(statx),
	SCMP_SYS(stat),
	// The process itself, memory, time, the end
	SCMP_SYS(getpid),
	SCMP_SYS(getppid),
	SCMP_SYS(gettid),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(pause),
	SCMP_SYS(getrandom),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

// libbpf's calls on the netlink socket that it opens, besides sendmsg() and recvmsg().
constexpr int kForFilters[] = {
	SCMP_SYS(setsockopt), SCMP_SYS(bind),     SCMP_SYS(getsockname), SCMP_SYS(sendto),
	SCMP_SYS(send),       SCMP_SYS(recvfrom), SCMP_SYS(recv),
};

// A call one of whose arguments, within `bits`, must have this value.
struct Narrowed {
	int call;
	unsigned argument;
	uint64_t bits, value;
};

constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t kOpening = O_ACCMODE | O_CREAT | O_TRUNC;
// As from fork(): nothing shared, no new namespace.
constexpr uint64_t kForks = kAll & ~uint64_t{CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID};

constexpr Narrowed kNarrowed[] = {
	{SCMP_SYS(openat), 2, kOpening, O_RDONLY},
	{SCMP_SYS(open), 1, kOpening, O_RDONLY},
	{SCMP_SYS(unlinkat), 2, kAll, AT_REMOVEDIR}, // the keeper removes a control group
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mmap2), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	{SCMP_SYS(clone), 0, kForks, SIGCHLD},
	{SCMP_SYS(pidfd_send_signal), 1, kAll, 0},
	{SCMP_SYS(pidfd_send_signal), 1, kAll, SIGKILL},
	{SCMP_SYS(prctl), 0, kAll, PR_SET_NAME},
	{SCMP_SYS(prctl), 0, kAll, PR_SET_PDEATHSIG},
	{SCMP_SYS(sched_setscheduler), 1, kAll, SCHED_FIFO},
	{SCMP_SYS(sched_setscheduler), 1, kAll, SCHED_IDLE},
	{SCMP_SYS(ioctl), 1, kAll, PERF_EVENT_IOC_SET_BPF},
	{SCMP_SYS(ioctl), 1, kAll, PERF_EVENT_IOC_ENABLE},
	{SCMP_SYS(bpf), 0, kAll, BPF_LINK_CREATE},
	{SCMP_SYS(setns), 1, kAll, CLONE_NEWNET},
	{SCMP_SYS(unshare), 0, kAll, CLONE_NEWNET},
};

constexpr Narrowed kOfFilters[] = {{SCMP_SYS(socket), 0, kAll, AF_NETLINK},
								   {SCMP_SYS(bpf), 0, kAll, BPF_OBJ_GET_INFO_BY_FD}};

} // namespace

void allow_injecting_calls_only(bool with_filters_of_devices)
{
	const std::unique_ptr<void, void (*)(void *)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
	int error = filter ? 0 : -ENOMEM;
	// Calls that this architecture lacks are accepted.
	const auto allow = [&](std::span<const int> calls, std::span<const Narrowed> narrowed) {
		for (const int call : calls)
			if (error == 0)
				error = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
		for (const Narrowed &one : narrowed)
			if (error == 0)
				error = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, one.call, 1,
										 SCMP_CMP64(one.argument, SCMP_CMP_MASKED_EQ, one.bits, one.value));
	};
	allow(kCalls, kNarrowed);
	if (with_filters_of_devices)
		allow(kForFilters, kOfFilters);
	if (error == 0)
		error = seccomp_load(filter.get());
	if (error != 0)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("the kernel refuses the seccomp filter of the injecting process: {}", std::strerror(-error)));
}

} // namespace icepath::selftest
