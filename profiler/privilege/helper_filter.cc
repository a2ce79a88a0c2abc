// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/helper_filter.h"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <seccomp.h>

namespace icepath::privilege {
namespace {

constexpr int kCalls[] = {
	// Probes, the counts of those that were skipped, slots
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(ioctl),
	// Requests, and the descriptors that come with them
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(close),
	SCMP_SYS(fcntl),
	SCMP_SYS(dup),
	SCMP_SYS(getsockopt),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	// Whose a process is, and where it runs
	SCMP_SYS(pidfd_open),
	SCMP_SYS(kill),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(getppid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	// Files of /proc and /sys; open() only reads, see below
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(lseek),
	SCMP_SYS(_llseek),
	SCMP_SYS(fstat),
	SCMP_SYS(fstat64),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstatat64),
	SCMP_SYS(statx),
	SCMP_SYS(stat),
	SCMP_SYS(lstat),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),
	SCMP_SYS(fstatfs),
	SCMP_SYS(statfs),
	SCMP_SYS(uname),
	SCMP_SYS(sysinfo),
	// What it prints last
	SCMP_SYS(write),
	SCMP_SYS(writev),
	// Memory, time, the end
	SCMP_SYS(mmap),
	SCMP_SYS(mmap2),
	SCMP_SYS(munmap),
	SCMP_SYS(mprotect),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(getrandom),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(tgkill),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

} // namespace

bool allow_capturing_calls_only()
{
	const std::unique_ptr<void, void (*)(void *)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
	if (!filter)
		return false;
	for (const int call : kCalls)
		if (seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call,
							 0)) // what this architecture doesn't have is taken as well
			return false;
	const auto only_reads = [&](int call, unsigned flags_argument) {
		return seccomp_rule_add(
				   filter.get(), SCMP_ACT_ALLOW, call, 1,
				   SCMP_CMP64(flags_argument, SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY)) == 0;
	};
	if (!only_reads(SCMP_SYS(openat), 2) || !only_reads(SCMP_SYS(open), 1))
		return false;
	return seccomp_load(filter.get()) == 0;
}

} // namespace icepath::privilege
