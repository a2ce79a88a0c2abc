// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/root_process.h"

#include <fcntl.h>
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
#include <string>

#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

constexpr int kBeginMs = 10'000; // an emulated CPU is slow

// Its first message: why it can't serve, NUL-terminated; empty: it can.
using Beginning = std::array<char, 256>;

void execute(const Fd &program, std::vector<std::string> &arguments, int socket)
{
	// The program's own descriptor may be in the way of its socket.
	const int file = fcntl(program.get(), F_DUPFD_CLOEXEC, kSocketOfProgram + 1);
	if (file < 0)
		return;
	if (socket == kSocketOfProgram ? fcntl(socket, F_SETFD, 0) != 0 : dup2(socket, kSocketOfProgram) < 0)
		return;
	std::vector<char *> argv;
	for (std::string &argument : arguments)
		argv.push_back(argument.data());
	argv.push_back(nullptr);
	char *const none[] = {nullptr};
	syscall(SYS_execveat, file, "", argv.data(), none, AT_EMPTY_PATH);
}

} // namespace

void ignore_terminal()
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

bool tell_beginning(int socket, const std::string &why_not)
{
	Beginning beginning{};
	why_not.copy(beginning.data(), beginning.size() - 1);
	return channel::send(socket, &beginning, sizeof(beginning));
}

RootProcess::RootProcess(const char *name, const Identity &user, const std::optional<Rights> &kept,
						 const std::function<void(int socket, pid_t icepath)> &serve)
	: name_(name)
{
	start([&](int socket, pid_t icepath) {
		// Including ends of other sockets: an end kept open would keep the peer from seeing it close.
		if (!close_all_but({socket}))
			_exit(1);
		ignore_terminal();
		prctl(PR_SET_NAME, name);
		std::string why_not;
		try {
			if (kept)
				keep_only(*kept, user, icepath);
		} catch (const Failure &failure) {
			why_not = failure.what();
		}
		if (!tell_beginning(socket, why_not) || !why_not.empty())
			_exit(1);
		serve(socket, icepath);
		_exit(0);
	});
}

RootProcess::RootProcess(const char *name, const Fd &program, std::vector<std::string> arguments) : name_(name)
{
	arguments.insert(arguments.begin(), name);
	start([&](int socket, pid_t) {
		if (!close_all_but({socket, program.get()}))
			_exit(1);
		ignore_terminal();
		execute(program, arguments, socket);
		(void)tell_beginning(socket, fmt::format("its program can't be executed: {}", std::strerror(errno)));
		_exit(1);
	});
}

void RootProcess::start(const std::function<void(int socket, pid_t icepath)> &in_child)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t icepath = getpid();
	pid_ = fork();
	if (pid_ < 0)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot fork {}: {}", name_, std::strerror(errno)));
	if (pid_ == 0) {
		try {
			in_child(theirs.get(), icepath);
		} catch (...) {
			// Not rethrown: this copy of icepath would go on with icepath's work, and with root's rights.
		}
		_exit(1);
	}
	theirs.reset();
	socket_ = std::move(ours);
	pidfd_ = pidfd_of(pid_);
	Beginning beginning{};
	std::vector<Fd> none;
	const bool said = channel::receive(socket_.get(), &beginning, sizeof(beginning), none, kBeginMs);
	if (said && beginning.front() == 0)
		return;
	end();
	beginning.back() = 0;
	throw Failure(ExitCode::MachineCannot,
				  fmt::format("{} can't begin: {}", name_, said ? beginning.data() : "it doesn't answer"));
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
