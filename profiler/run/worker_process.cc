// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "profiler/failure.h"
#include "profiler/privilege/root_process.h"
#include "profiler/run/descriptor_limit.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;
constexpr int kAnswerMs = 5000;

template <size_t N> std::string text(const char (&field)[N]) { return {field, strnlen(field, N)}; }

constexpr pid_t kSecond = 2; // in a PID namespace, beside its first process

// The first process of a PID namespace, with whose end all others of it end: it waits for the second, and ends with it. The second
// isn't first itself, since signals that a program sends to itself wouldn't end it (pid_namespaces(7)).
[[noreturn]] void end_with_second(int told)
{
	prctl(PR_SET_NAME, "icepath-pids");
	char go = 0;
	if (!privilege::close_all_but(told) || read(told, &go, 1) != 1)
		_exit(1);
	pollfd second{static_cast<int>(syscall(SYS_pidfd_open, kSecond, 0)), POLLIN, 0};
	while (second.fd >= 0 && poll(&second, 1, -1) < 0 && errno == EINTR) {
	}
	_exit(0);
}

// Goes on in a child of this process's parent, in a PID namespace of its own, so that whatever it starts, in another session too, ends
// with it. This process tells who that is, and ends.
void go_on_in_own_pids(int teller)
{
	int ends[2];
	pid_t second = -1;
	if (pipe2(ends, O_CLOEXEC) == 0 && unshare(CLONE_NEWPID) == 0) {
		const pid_t first = fork();
		if (first == 0) {
			close(ends[1]);
			end_with_second(ends[0]);
		}
		if (first > 0)
			second = static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
		if (second == 0)
			return;
		if (second > 0)
			(void)!write(ends[1], "x", 1);
	}
	(void)!write(teller, &second, sizeof(second));
	_exit(0);
}

pid_t told_by(const Fd &told, pid_t forked)
{
	pid_t first = -1;
	if (read(told.get(), &first, sizeof(first)) != sizeof(first))
		first = -1;
	waitpid(forked, nullptr, 0);
	if (first < 0)
		errno = EPERM;
	return first;
}

pid_t fork_worker(const std::string &program, std::vector<std::string> words, const std::vector<int> &inherited,
				  const MiddlewareSpace *space, bool own_pids)
{
	words.insert(words.begin(), program);
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	int ends[2] = {-1, -1};
	if (own_pids && pipe2(ends, O_CLOEXEC))
		return -1;
	const Fd told(ends[0]);
	Fd teller(ends[1]);
	const pid_t pid = fork();
	if (pid != 0) {
		teller.reset();
		return own_pids && pid > 0 ? told_by(told, pid) : pid;
	}
	if (space && !space->enter())
		_exit(126);
	if (own_pids)
		go_on_in_own_pids(teller.get());
	restore_descriptor_limit();
	setsid(); // a group of its own, with whatever it starts; the terminal interrupts icepath, which ends its workers itself
	for (const int fd : inherited)
		fcntl(fd, F_SETFD, 0);
	execv(program.c_str(), arguments.data());
	_exit(127);
}

} // namespace

WorkerProcess::WorkerProcess(const std::string &program, std::string what, const std::vector<Fd> &sockets,
							 bool one_thread, const MiddlewareSpace *space, bool own_pids)
	: what_(std::move(what))
{
	std::vector<std::string> words;
	std::vector<int> inherited;
	for (const Fd &socket : sockets) {
		inherited.push_back(socket.get());
		words.insert(words.end(), {"--control", std::to_string(socket.get())});
	}
	if (one_thread)
		words.push_back("--one-thread");
	pid_ = space && space->root() ? space->root()->start(words, inherited)
								  : fork_worker(program, words, inherited, space, own_pids);
	if (pid_ < 0)
		throw WorkerFailed(fmt::format("cannot start the {}: {}", what_, std::strerror(errno)));
	pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
	if (pidfd_)
		return;
	const int why = errno;
	kill(pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
	throw WorkerFailed(fmt::format("cannot follow the {}: {}", what_, std::strerror(why)));
}

WorkerProcess::~WorkerProcess()
{
	if (!pidfd_)
		return;
	syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
	kill(-pid_, SIGKILL); // what it started: the number stays its group's until it was waited for
	waitpid(pid_, nullptr, 0);
}

bool WorkerProcess::has_ended() const
{
	pollfd look{pidfd_.get(), POLLIN, 0};
	return poll(&look, 1, 0) == 1;
}

std::optional<std::string> WorkerProcess::end() const
{
	siginfo_t end{};
	// It may just be dying: its socket closes before it can be waited for.
	for (int tries = 0; tries < 20 && end.si_pid == 0; tries++) {
		if (tries)
			usleep(5000);
		if (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &end, WEXITED | WNOHANG | WNOWAIT))
			break;
	}
	if (end.si_pid == 0)
		return std::nullopt;
	if (end.si_code != CLD_EXITED)
		return fmt::format("the {} was killed by signal {} ({})", what_, end.si_status, strsignal(end.si_status));
	if (end.si_status == 126)
		return fmt::format("the {} can't enter the run's namespaces for middleware", what_);
	return end.si_status == 127 ? fmt::format("the {} can't be started", what_)
								: fmt::format("the {} exited with {}", what_, end.si_status);
}

std::optional<std::string> WorkerProcess::stop() const
{
	siginfo_t stopped{};
	if (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &stopped, WSTOPPED | WNOHANG | WNOWAIT) || stopped.si_pid == 0)
		return std::nullopt;
	return fmt::format("the {} doesn't run: it is stopped ({})", what_, strsignal(stopped.si_status));
}

Worker::Worker(const std::string &program, const std::string &what, const MiddlewareSpace *space, bool own_pids)
	: Worker(std::move(*start(program, what, {what}, false, space, own_pids)[0]))
{}

std::vector<std::unique_ptr<Worker>> Worker::start(const std::string &program, const std::string &what,
												   const std::vector<std::string> &sides, bool one_thread,
												   const MiddlewareSpace *space, bool own_pids)
{
	std::vector<Fd> ours, theirs;
	for (size_t side = 0; side < sides.size(); side++) {
		auto [mine, its] = channel::open_pair();
		ours.push_back(std::move(mine));
		theirs.push_back(std::move(its));
	}
	const auto process = std::make_shared<WorkerProcess>(program, what, theirs, one_thread, space, own_pids);
	std::vector<std::unique_ptr<Worker>> workers;
	for (size_t side = 0; side < sides.size(); side++)
		workers.emplace_back(new Worker(process, std::move(ours[side]), sides[side]));
	return workers;
}

void Worker::call_it(const std::string &what)
{
	process_->call_it(what);
	what_ = what;
}

std::string Worker::silence() const
{
	if (const auto stopped = process_->stop())
		return *stopped;
	return process_->end().value_or(fmt::format("the {} doesn't answer", what_));
}

void Worker::fail() const { throw WorkerFailed(silence()); }

void Worker::send(const worker::Request &request, const std::vector<int> &fds)
{
	if (!channel::send(socket_.get(), &request, sizeof(request), fds))
		fail();
}

worker::Reply Worker::receive(std::vector<Fd> &received, int timeout_ms)
{
	worker::Reply reply{};
	if (!channel::receive(socket_.get(), &reply, sizeof(reply), received, timeout_ms))
		fail();
	if (reply.status != worker::ReplyStatus::Done)
		throw WorkerFailed(
			fmt::format("{}: {}", what_, text(reply.message)), reply.status == worker::ReplyStatus::Cancelled,
			reply.status == worker::ReplyStatus::Failed || reply.status == worker::ReplyStatus::Cancelled);
	return reply;
}

worker::Reply Worker::ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received)
{
	send(request, fds);
	return receive(received, kAnswerMs);
}

std::string worker_program() { return targets::program_folder() / "icepath-worker"; }

} // namespace icepath::run
