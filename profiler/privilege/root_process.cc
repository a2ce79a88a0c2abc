// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/root_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

constexpr int kBeginMs = 10'000; // an emulated CPU is slow

// Its first message: why it can't serve, NUL-terminated; empty: it can.
using Beginning = std::array<char, 256>;

[[noreturn]] void begin(int socket, const char *name, const Identity &user, const std::optional<Rights> &kept,
						pid_t icepath, const std::function<void(int socket, pid_t icepath)> &serve)
{
	// Including ends of other sockets: an end kept open would keep the peer from seeing it close.
	if (!close_all_but({socket}))
		_exit(1);
	// A terminal's Ctrl-C or hang-up goes to the whole process group, but icepath decides when this process ends.
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, name);
	Beginning beginning{};
	try {
		if (kept)
			keep_only(*kept, user, icepath);
	} catch (const Failure &failure) {
		std::string_view(failure.what()).copy(beginning.data(), beginning.size() - 1);
	}
	if (!channel::send(socket, &beginning, sizeof(beginning)) || beginning.front() != 0)
		_exit(1);
	serve(socket, icepath);
	_exit(0);
}

} // namespace

RootProcess::RootProcess(const char *name, const Identity &user, const std::optional<Rights> &kept,
						 const std::function<void(int socket, pid_t icepath)> &serve)
	: name_(name)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t icepath = getpid();
	pid_ = fork();
	if (pid_ < 0)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot fork {}: {}", name, std::strerror(errno)));
	if (pid_ == 0)
		begin(theirs.get(), name, user, kept, icepath, serve);
	theirs.reset();
	socket_ = std::move(ours);
	pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
	Beginning beginning{};
	std::vector<Fd> none;
	const bool said = channel::receive(socket_.get(), &beginning, sizeof(beginning), none, kBeginMs);
	if (said && beginning.front() == 0)
		return;
	end();
	beginning.back() = 0;
	throw Failure(ExitCode::MachineCannot,
				  fmt::format("{} can't begin: {}", name, said ? beginning.data() : "it doesn't answer"));
}

RootProcess::~RootProcess() { end(); }

bool RootProcess::end(int patience_ms)
{
	if (!socket_)
		patience_ms = 0; // doesn't wait twice for a process that hung
	socket_.reset();
	for (const bool kill_it : {false, true}) {
		if (pid_ <= 0)
			return true;
		if (kill_it) {
			if (!pidfd_ || syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0))
				return false;
			fmt::print(stderr, "icepath: {} (process {}) didn't end by itself and was killed\n", name_, pid_);
		}
		pollfd ended{pidfd_.get(), POLLIN, 0};
		if (pidfd_ && poll(&ended, 1, patience_ms) <= 0)
			continue;
		int status = 0;
		if (waitpid(pid_, &status, pidfd_ ? WNOHANG : 0) > 0 && WIFSIGNALED(status) && !kill_it)
			ended_by_ = WTERMSIG(status);
		pid_ = -1;
	}
	return pid_ <= 0;
}

bool close_all_but(std::vector<int> kept)
{
	std::ranges::sort(kept);
	int first = STDERR_FILENO + 1;
	for (const int fd : kept) {
		if (fd > first && close_range(static_cast<unsigned>(first), static_cast<unsigned>(fd) - 1, 0) != 0)
			return false;
		first = std::max(first, fd + 1);
	}
	return close_range(static_cast<unsigned>(first), ~0u, 0) == 0;
}

} // namespace icepath::privilege
