// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/command.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/privilege/root_process.h"

namespace icepath::attach {
namespace {

constexpr int kNotExecuted = 127; // as of a shell

[[noreturn]] void execute(const std::vector<std::string> &words, const privilege::Identity &user, int parent)
{
	char byte = 0;
	try {
		if (!privilege::close_all_but({parent}))
			_exit(kNotExecuted);
		privilege::become(user);
	} catch (const Failure &) {
		_exit(kNotExecuted);
	}
	for (const int number : {SIGPIPE, SIGXFSZ}) // ignored by icepath; exec(2) resets those that it handles
		signal(number, SIG_DFL);
	if (write(parent, &byte, 1) != 1 || read(parent, &byte, 1) != 1) // icepath has ended
		_exit(kNotExecuted);
	std::vector<char *> argv;
	for (const std::string &word : words)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	execvp(argv[0], argv.data()); // which closes `parent`
	const int why = errno;
	(void)!write(parent, &why, sizeof(why));
	_exit(kNotExecuted);
}

} // namespace

Command::Command(const std::vector<std::string> &words, const privilege::Identity &user)
{
	auto [ours, theirs] = channel::open_pair();
	pid_ = fork();
	if (pid_ == 0)
		execute(words, user, theirs.get());
	theirs.reset();
	char byte = 0;
	if (pid_ < 0 || read(ours.get(), &byte, 1) != 1)
		throw Failure(ExitCode::MachineCannot, fmt::format("{} can't be started", words[0]));
	name_ = words[0];
	goes_ = std::move(ours);
}

void Command::start()
{
	const char byte = 0;
	if (!goes_)
		return;
	if (send(goes_.get(), &byte, 1, MSG_NOSIGNAL) != 1)
		throw Failure(ExitCode::MachineCannot, "the command has ended before it was started");
	int why = 0;
	if (recv(goes_.get(), &why, sizeof(why), 0) == sizeof(why))
		throw Failure(ExitCode::Usage, fmt::format("{} can't be executed: {}", name_, std::strerror(why)));
	goes_.reset();
}

void Command::reap() const { waitpid(pid_, nullptr, WNOHANG); }

} // namespace icepath::attach
