// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/child_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cpuset/affinity.h"

namespace icepath::bench {
namespace {

constexpr int kStartMs = 10000, kEndMs = 10000;
constexpr int kNotFound = 127; // as a shell has it

[[noreturn]] void become(std::vector<std::string> &arguments, const ChildProgram::How &how, pid_t parent)
{
	if (how.space && !how.space->enter())
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); // forgotten by a process that changes its rights, as one that enters a space does
	if (getppid() != parent)
		_exit(1);
	if (how.with_children)
		setpgid(0, 0);
	if (how.cpu && cpuset::pin(0, *how.cpu))
		_exit(1);
	for (const int fd : how.keep)
		fcntl(fd, F_SETFD, 0);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int output = how.output >= 0 ? how.output : null;
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	std::vector<char *> argv;
	for (std::string &argument : arguments)
		argv.push_back(argument.data());
	argv.push_back(nullptr);
	execvp(argv[0], argv.data());
	_exit(kNotFound);
}

int code_of(const siginfo_t &ended) { return ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status; }

} // namespace

ChildProgram::ChildProgram(std::vector<std::string> arguments, const How &how)
	: name_(arguments[0]), end_signal_(how.end_signal)
{
	const pid_t parent = getpid();
	pid_ = fork();
	if (pid_ == 0)
		become(arguments, how, parent);
	if (pid_ < 0)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot start {}: {}", name_, std::strerror(errno)));
	if (how.with_children) {
		group_ = pid_;
		setpgid(pid_, pid_); // whoever of both comes first
	}
	pidfd_ = pidfd_of(pid_);
}

ChildProgram::~ChildProgram() { end(); }

void ChildProgram::end()
{
	if (pid_ >= 0) {
		kill(pid_, end_signal_);
		if (!wait(kEndMs)) {
			kill(pid_, SIGKILL);
			waitpid(pid_, nullptr, 0);
			pid_ = -1;
		}
	}
	if (const pid_t group = std::exchange(group_, -1); group > 0)
		kill(-group, SIGKILL);
}

std::optional<int> ChildProgram::wait(int timeout_ms)
{
	pollfd ended{pidfd_.get(), POLLIN, 0};
	siginfo_t how{};
	if (poll(&ended, 1, timeout_ms) != 1 || waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED))
		return std::nullopt;
	pid_ = -1;
	return code_of(how);
}

Fd open_output()
{
	Fd output(memfd_create("program-output", MFD_CLOEXEC));
	if (!output)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("no memory for a program's output: {}", std::strerror(errno)));
	return output;
}

std::string text_of(const Fd &output)
{
	struct stat file{};
	fstat(output.get(), &file);
	std::string text(static_cast<size_t>(file.st_size), '\0');
	const ssize_t got = pread(output.get(), text.data(), text.size(), 0);
	text.resize(got > 0 ? static_cast<size_t>(got) : 0);
	return text;
}

namespace {

ChildProgram::How until_killed(ChildProgram::How how, const Fd &output)
{
	how.output = output.get();
	how.end_signal = SIGKILL;
	return how;
}

} // namespace

Ended run_to_end(const std::vector<std::string> &arguments, ChildProgram::How how, int timeout_ms)
{
	const Fd output = open_output();
	ChildProgram program(arguments, until_killed(std::move(how), output));
	const std::optional<int> code = program.wait(timeout_ms);
	if (!code)
		throw Failure(ExitCode::Invalid, fmt::format("{} took more than {} ms", arguments[0], timeout_ms));
	if (*code == kNotFound)
		throw failure_of(arguments[0], {*code, ""});
	return {*code, text_of(output)};
}

Server::Server(const std::vector<std::string> &arguments, ChildProgram::How how,
			   const std::function<bool(const std::string &output)> &is_ready)
	: output_(open_output()), program_(arguments, until_killed(std::move(how), output_))
{
	constexpr int kLookEveryMs = 5;
	for (int waited_ms = 0; !is_ready(text_of(output_)); waited_ms += kLookEveryMs) {
		const std::optional<int> ended = program_.wait(kLookEveryMs);
		if (ended || waited_ms > kStartMs)
			throw failure_of(arguments[0], {ended.value_or(0), text_of(output_)});
	}
}

Failure failure_of(const std::string &program, const Ended &ended)
{
	if (ended.code == kNotFound)
		return {ExitCode::MachineCannot, program + " isn't installed: run cmake/install-packages.sh bench"};
	constexpr size_t kMost = 300;
	return {ExitCode::Invalid,
			fmt::format("{} measured nothing and ended with {}: ...{}", program, ended.code,
						ended.output.substr(ended.output.size() - std::min(kMost, ended.output.size())))};
}

} // namespace icepath::bench
