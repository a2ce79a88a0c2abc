// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/rehearsal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "profiler/channel.h"

namespace icepath::cli {
namespace {

constexpr int kLookMs = 100;

// What a report prints is of no use here.
[[noreturn]] void become_report(const char *program, const char *run, pid_t icepath)
{
	setsid(); // the terminal interrupts icepath only, which ends this process itself
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	const int nowhere = open("/dev/null", O_RDWR);
	if (getppid() != icepath || nowhere < 0)
		_exit(1);
	for (int standard = 0; standard <= 2; ++standard)
		if (dup2(nowhere, standard) < 0)
			_exit(1);
	execl(program, "icepath", "report", "--", run, nullptr);
	_exit(127);
}

} // namespace

bool rehearse_report(const std::string &program, const std::string &run, const std::function<bool()> &stops)
{
	const pid_t icepath = getpid();
	const pid_t pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0)
		become_report(program.c_str(), run.c_str(), icepath);
	const Fd process = pidfd_of(pid);
	pollfd end{process.get(), POLLIN, 0};
	while (process && !stops() && poll(&end, 1, kLookMs) < 1) {
	}
	if ((end.revents & POLLIN) == 0)
		kill(pid, SIGKILL);
	int status = 0;
	pid_t ended = -1;
	while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
	}
	return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace icepath::cli
