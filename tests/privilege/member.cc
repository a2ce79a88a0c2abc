// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/member.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <stdexcept>

#include "profiler/privilege/file_capabilities.h"
#include "tests/privilege/roots_folder.h"

namespace icepath::privilege {
namespace {

constexpr size_t kMostWorkers = 8;

struct Told {
	pid_t helper = -1;
	std::array<pid_t, kMostWorkers> workers{};
};

void become(const Start &start)
{
	const gid_t group = kMembers;
	if (setgroups(start.is_member ? 1 : 0, &group) || setresgid(start.user, start.user, start.user) ||
		setresuid(start.user, start.user, start.user))
		_exit(120);
	prctl(PR_SET_DUMPABLE, 1); // as a process that was always this user's
}

[[noreturn]] void execute_helper(const std::filesystem::path &helper, const Start &start, int socket)
{
	std::vector<std::string> words = start.arguments.value_or(
		std::vector<std::string>{kHelperName, ICEPATH_HELPER_VERSION, std::to_string(start.user), "PARENT"});
	std::vector<char *> argv, environment;
	for (std::string &word : words) {
		if (word == "PARENT")
			word = std::to_string(getppid());
		argv.push_back(word.data());
	}
	argv.push_back(nullptr);
	std::vector<std::string> variables = start.environment;
	for (std::string &variable : variables)
		environment.push_back(variable.data());
	environment.push_back(nullptr);
	dup2(socket, kSocketOfProgram);
	if (start.prepare_helper)
		start.prepare_helper();
	execve(helper.c_str(), argv.data(), environment.data());
	_exit(127);
}

template <class Act> pid_t child(const Act &act)
{
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		act();
		_exit(0);
	}
	return pid;
}

// The user's process.
[[noreturn]] void be_icepath(const std::filesystem::path &helper, const Start &start, int tell)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become(start);
	if (start.prepare)
		start.prepare();
	auto [ours, theirs] = channel::open_pair();
	Told told;
	for (size_t i = 0; i < start.workers.size(); i++)
		told.workers.at(i) = child(start.workers[i]);
	told.helper = fork(); // the helper sets how it ends by itself
	if (told.helper == 0)
		execute_helper(helper, start, theirs.get());
	theirs.reset();
	channel::send(tell, &told, sizeof(told), {ours.get()});
	int status = 0;
	waitpid(told.helper, &status, 0);
	channel::send(tell, &status, sizeof(status));
	for (;;)
		pause();
}

} // namespace

Member::Member(const std::filesystem::path &helper, const Start &start)
{
	auto [ours, theirs] = channel::open_pair();
	icepath_ = fork();
	if (icepath_ == 0)
		be_icepath(helper, start, theirs.get());
	theirs.reset();
	told_ = std::move(ours);
	Told told;
	std::vector<Fd> fds;
	constexpr int kMs = 20'000;
	if (!channel::receive(told_.get(), &told, sizeof(told), fds, kMs) || fds.size() != 1)
		throw std::runtime_error("the user's process doesn't begin");
	helper_ = told.helper;
	workers_.assign(told.workers.begin(), told.workers.begin() + static_cast<ptrdiff_t>(start.workers.size()));
	socket_ = std::move(fds.front());
	std::array<char, 256> beginning{};
	if (channel::receive(socket_.get(), beginning.data(), beginning.size(), fds, kMs))
		beginning_ = beginning.data();
}

Member::~Member()
{
	socket_.reset();
	kill(icepath_, SIGKILL); // its children have PR_SET_PDEATHSIG, but not set-uid ones
	for (const pid_t worker : workers_)
		kill(worker, SIGKILL);
	waitpid(icepath_, nullptr, 0);
}

std::optional<HelperReply> Member::ask(const HelperRequest &request, const std::vector<int> &fds)
{
	constexpr int kMs = 120'000;
	HelperReply reply{};
	received.clear();
	if (!channel::send(socket_.get(), &request, sizeof(request), fds) ||
		!channel::receive(socket_.get(), &reply, sizeof(reply), received, kMs))
		return std::nullopt;
	return reply;
}

int Member::helper_status()
{
	int status = -1;
	std::vector<Fd> none;
	constexpr int kMs = 20'000;
	return channel::receive(told_.get(), &status, sizeof(status), none, kMs) ? status : -1;
}

void WithHelperForMembers::SetUp()
{
	if (const std::string why = why_no_roots_folder(); !why.empty())
		GTEST_SKIP() << why;
	folder = roots_folder();
	helper = folder / kHelperName;
	give_capabilities(helper, kMembers);
}

std::string proc_line(pid_t pid, const std::string &name)
{
	std::ifstream status("/proc/" + std::to_string(pid) + "/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with(name + ":\t"))
			return line.substr(name.size() + 2);
	return "no " + name;
}

} // namespace icepath::privilege
