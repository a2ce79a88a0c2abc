// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "profiler/privilege/rights.h"

namespace icepath::privilege {
namespace {

constexpr int kCalls[] = {
	// Requests, and the descriptors that come with them
	SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(close), SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	// Files of /proc and /sys; open() only reads, see below
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(_llseek), SCMP_SYS(fstat),
	SCMP_SYS(fstat64), SCMP_SYS(newfstatat), SCMP_SYS(fstatat64), SCMP_SYS(statx),
	// Last messages
	SCMP_SYS(write), SCMP_SYS(writev),
	// Memory, time, the end
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kAddressSanitizer = false;
#endif

} // namespace

Filter::Filter(std::string whose) : whose_(std::move(whose)), filter_(seccomp_init(SCMP_ACT_ERRNO(EPERM)))
{
	check(filter_ ? 0 : -ENOMEM);
	for (const int call : kCalls)
		allow(call);
	allow_each(SCMP_SYS(tgkill), 0, {static_cast<uint64_t>(getpid())}); // abort()
	if (kAddressSanitizer)
		allow(SCMP_SYS(sigaltstack)); // called at each exception
	constexpr uint64_t kWrites = O_ACCMODE | O_CREAT | O_TRUNC;
	allow(SCMP_SYS(openat), SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, kWrites, O_RDONLY));
	allow(SCMP_SYS(open), SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, kWrites, O_RDONLY));
	for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)})
		allow(call, SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

Filter::~Filter() { seccomp_release(filter_); }

void Filter::allow(int call) { check(seccomp_rule_add(filter_, SCMP_ACT_ALLOW, call, 0)); }

void Filter::allow(int call, scmp_arg_cmp where) { check(seccomp_rule_add(filter_, SCMP_ACT_ALLOW, call, 1, where)); }

void Filter::allow_each(int call, unsigned argument, std::initializer_list<uint64_t> values)
{
	for (const uint64_t value : values)
		allow(call, SCMP_CMP64(argument, SCMP_CMP_EQ, value));
}

void Filter::load() { check(seccomp_load(filter_)); }

void Filter::check(int result) const
{
	if (result < 0)
		throw RightsKept(fmt::format("the kernel refuses the seccomp filter of {}, which doesn't run without it: {}",
									 whose_, std::strerror(-result)));
}

} // namespace icepath::privilege
