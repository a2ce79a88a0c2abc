// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/inside.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace icepath::privilege {

#ifdef __x86_64__

struct Inside::Registers {
	user_regs_struct all;
};

std::string why_not_inside() { return ""; }

Inside::Inside(pid_t pid) : pid_(pid), before_(new Registers)
{
	int status = 0;
	if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) || ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) ||
		waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
		ptrace(PTRACE_GETREGS, pid, nullptr, &before_->all))
		throw std::runtime_error(std::string("a process can't be traced: ") + std::strerror(errno));
}

Inside::~Inside()
{
	ptrace(PTRACE_SETREGS, pid_, nullptr, &before_->all); // also returns to the call in which it slept
	ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
	delete before_;
}

long Inside::call(long number, std::array<long, 6> arguments)
{
	constexpr unsigned long long kSyscallBytes = 2; // length of "syscall", behind which it was stopped
	user_regs_struct registers = before_->all;
	registers.rip -= kSyscallBytes;
	registers.orig_rax = static_cast<unsigned long long>(-1); // no call to restart
	registers.rax = static_cast<unsigned long long>(number);
	registers.rdi = static_cast<unsigned long long>(arguments[0]);
	registers.rsi = static_cast<unsigned long long>(arguments[1]);
	registers.rdx = static_cast<unsigned long long>(arguments[2]);
	registers.r10 = static_cast<unsigned long long>(arguments[3]);
	registers.r8 = static_cast<unsigned long long>(arguments[4]);
	registers.r9 = static_cast<unsigned long long>(arguments[5]);
	int status = 0;
	if (ptrace(PTRACE_SETREGS, pid_, nullptr, &registers) || ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) ||
		waitpid(pid_, &status, __WALL) != pid_ || !WIFSTOPPED(status) ||
		ptrace(PTRACE_GETREGS, pid_, nullptr, &registers))
		throw std::runtime_error("the process ended in its system call");
	return static_cast<long>(registers.rax);
}

long Inside::holding(const void *bytes, size_t count)
{
	constexpr unsigned long long kBeyondRedZone = 4096;
	const auto address = (before_->all.rsp - kBeyondRedZone) & ~15ull;
	iovec here{const_cast<void *>(bytes), count}, there{reinterpret_cast<void *>(address), count};
	if (process_vm_writev(pid_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(count))
		throw std::runtime_error(std::string("its memory can't be written: ") + std::strerror(errno));
	return static_cast<long>(address);
}

#else

struct Inside::Registers {};

std::string why_not_inside() { return "is written for x86-64"; }

Inside::Inside(pid_t pid) : pid_(pid), before_(nullptr) {}
Inside::~Inside() = default;
long Inside::call(long, std::array<long, 6>) { return -ENOSYS; }
long Inside::holding(const void *, size_t) { return 0; }

#endif

} // namespace icepath::privilege
