// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
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
#include <string_view>
#include <utility>

#include "profiler/failure.h"
#include "profiler/own_programs.h"
#include "profiler/run/descriptor_limit.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;
constexpr int kAnswerMs = 5000;

// `process` must be stopped: it can't reap its children, so their pids aren't reused.
void kill_descendants(pid_t process)
{
	std::error_code gone;
	for (const auto &task : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
		std::ifstream children(task.path() / "children");
		for (pid_t child = 0; children >> child;) {
			kill(child, SIGSTOP);
			kill_descendants(child);
			kill(child, SIGKILL);
		}
	}
}

// "NAME=VALUE": icepath's own variables but those that `added` replaces.
std::vector<std::string> whole_environment(const Environment &added)
{
	std::vector<std::string> all;
	for (char **one = environ; one && *one; ++one)
		if (const std::string_view own(*one);
			std::ranges::none_of(added, [&](const auto &variable) { return own.starts_with(variable.first + "="); }))
			all.emplace_back(own);
	for (const auto &[name, value] : added)
		all.push_back(name + "=" + value);
	return all;
}

std::vector<char *> pointers_to(std::vector<std::string> &words)
{
	std::vector<char *> pointers;
	for (std::string &word : words)
		pointers.push_back(word.data());
	pointers.push_back(nullptr);
	return pointers;
}

pid_t fork_worker(const std::string &program, std::vector<std::string> words, const std::vector<int> &inherited,
				  const MiddlewareSpace *space, const Environment &environment)
{
	words.insert(words.begin(), program);
	std::vector<std::string> variables = whole_environment(environment);
	const std::vector<char *> arguments = pointers_to(words), its_environment = pointers_to(variables);
	const pid_t pid = fork();
	if (pid != 0)
		return pid;
	restore_descriptor_limit();
	// A process group of its own: the terminal interrupts icepath only, which ends its workers itself.
	setsid();
	for (const int fd : inherited)
		fcntl(fd, F_SETFD, 0);
	if (space && !space->enter())
		_exit(126);
	execve(program.c_str(), arguments.data(), its_environment.data());
	_exit(127);
}

} // namespace

WorkerProcess::WorkerProcess(const std::string &program, std::string what, const std::vector<Fd> &sockets,
							 bool one_thread, const MiddlewareSpace *space, const Environment &environment)
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
	pid_ = space && space->root() ? space->root()->start(words, inherited, environment)
								  : fork_worker(program, words, inherited, space, environment);
	if (pid_ < 0)
		throw WorkerFailed(fmt::format("cannot start the {}: {}", what_, std::strerror(errno)));
	pidfd_ = pidfd_of(pid_);
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
	syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGSTOP, nullptr, 0);
	kill_descendants(pid_);
	syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
	kill(-pid_, SIGKILL); // its process group; the number isn't reused before waitpid()
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
	// A dying process closes its socket before it can be waited for.
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

// The kernel tells of a stop once the last thread has stopped (task_participate_group_stop()).
bool WorkerProcess::has_stopped() const
{
	siginfo_t state{};
	return waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &state, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) ||
		   state.si_pid != 0;
}

void WorkerProcess::stand_still()
{
	if (!stands_still_)
		stands_still_ = syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGSTOP, nullptr, 0) == 0;
}

void WorkerProcess::go_on()
{
	if (std::exchange(stands_still_, false))
		syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGCONT, nullptr, 0);
}

std::optional<std::string> WorkerProcess::stop() const
{
	siginfo_t stopped{};
	if (stands_still_)
		return std::nullopt;
	if (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &stopped, WSTOPPED | WNOHANG | WNOWAIT) || stopped.si_pid == 0)
		return std::nullopt;
	return fmt::format("the {} doesn't run: it is stopped ({})", what_, strsignal(stopped.si_status));
}

Worker::Worker(const std::string &program, const std::string &what, const MiddlewareSpace *space,
			   const Environment &environment)
	: Worker(std::move(*start(program, what, {what}, false, space, environment)[0]))
{}

std::vector<std::unique_ptr<Worker>> Worker::start(const std::string &program, const std::string &what,
												   const std::vector<std::string> &sides, bool one_thread,
												   const MiddlewareSpace *space, const Environment &environment)
{
	std::vector<Fd> ours, theirs;
	for (size_t side = 0; side < sides.size(); side++) {
		auto [mine, its] = channel::open_pair();
		ours.push_back(std::move(mine));
		theirs.push_back(std::move(its));
	}
	const auto process = std::make_shared<WorkerProcess>(program, what, theirs, one_thread, space, environment);
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
			fmt::format("{}: {}", what_, worker::text(reply.message)), reply.status == worker::ReplyStatus::Cancelled,
			reply.status == worker::ReplyStatus::Failed || reply.status == worker::ReplyStatus::Cancelled);
	return reply;
}

worker::Reply Worker::ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received)
{
	send(request, fds);
	return receive(received, kAnswerMs);
}

std::string worker_program() { return own_program("icepath-worker"); }

} // namespace icepath::run
