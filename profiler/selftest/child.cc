// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cpuset/affinity.h"
#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

constexpr int kEndMs = 2000;

[[noreturn]] void run_child(const char *name, uint32_t cpu, pid_t parent, int report,
							const std::function<bool()> &prepare, const std::function<void()> &work)
{
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	// CPUs are kept awake as long as any process has that descriptor open.
	close_range(STDERR_FILENO + 1, static_cast<unsigned>(report) - 1, 0);
	close_range(static_cast<unsigned>(report) + 1, ~0u, 0);
	errno = 0;
	int error = cpuset::pin(0, cpu) || !prepare() ? (errno ? errno : EINVAL) : 0;
	if (write(report, &error, sizeof(error)) == sizeof(error) && error == 0)
		work();
	_exit(0);
}

} // namespace

Child::Child(const char *name, uint32_t cpu, const std::function<bool()> &prepare, const std::function<void()> &work)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		throw Failure(ExitCode::MachineCannot, fmt::format("{} can't be started: {}", name, std::strerror(errno)));
	Fd reports(ends[0]), report(ends[1]);
	const pid_t parent = getpid();
	pid_ = fork();
	if (pid_ < 0)
		throw Failure(ExitCode::MachineCannot, fmt::format("{} can't be started: {}", name, std::strerror(errno)));
	if (pid_ == 0)
		run_child(name, cpu, parent, report.get(), prepare, work);
	pidfd_ = pidfd_of(pid_);
	report.reset();
	int error = ETIMEDOUT;
	pollfd reported{reports.get(), POLLIN, 0};
	if (poll(&reported, 1, kEndMs) > 0 && read(reports.get(), &error, sizeof(error)) == 0)
		error = ESRCH;
	if (error == 0)
		return;
	end();
	throw Failure(ExitCode::MachineCannot, fmt::format("{} can't run on CPU {}: {}", name, cpu, std::strerror(error)));
}

Child::~Child() { end(); }

void Child::end()
{
	syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
	pollfd ended{pidfd_.get(), POLLIN, 0};
	if (poll(&ended, 1, kEndMs) > 0)
		waitpid(pid_, nullptr, WNOHANG);
}

} // namespace icepath::selftest
