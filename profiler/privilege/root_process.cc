// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/root_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::privilege {

RootProcess::RootProcess(const char *name, const std::function<void(int socket, pid_t icepath)> &serve)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t icepath = getpid();
	pid_ = fork();
	if (pid_ < 0)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot fork {}: {}", name, std::strerror(errno)));
	if (pid_ == 0) {
		// Ends of other sockets among them: who keeps one open keeps its other end from closing.
		if (!close_all_but(theirs.get()))
			_exit(1);
		// A terminal's Ctrl-C goes to the whole group: icepath decides when this one ends.
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		prctl(PR_SET_NAME, name);
		serve(theirs.get(), icepath);
		_exit(0);
	}
	socket_ = std::move(ours);
	pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

RootProcess::~RootProcess() { end(); }

bool RootProcess::end()
{
	constexpr int kPatienceMs = 2000;
	socket_.reset();
	for (const bool kill_it : {false, true}) {
		if (pid_ <= 0)
			return true;
		if (kill_it && (!pidfd_ || syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0)))
			return false;
		pollfd ended{pidfd_.get(), POLLIN, 0};
		if (pidfd_ && poll(&ended, 1, kPatienceMs) <= 0)
			continue;
		waitpid(pid_, nullptr, pidfd_ ? WNOHANG : 0);
		pid_ = -1;
	}
	return pid_ <= 0;
}

bool close_all_but(int kept)
{
	const auto first = static_cast<unsigned>(STDERR_FILENO + 1), number = static_cast<unsigned>(kept);
	return (number == first || close_range(first, number - 1, 0) == 0) && close_range(number + 1, ~0u, 0) == 0;
}

} // namespace icepath::privilege
