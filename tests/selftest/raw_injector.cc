// SPDX-License-Identifier: Apache-2.0
#include "tests/selftest/raw_injector.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "profiler/selftest/cpu_group.h"
#include "profiler/selftest/injector_server.h"

namespace icepath::selftest {

RawInjector::RawInjector()
	: process_("icepath-inject", kSomebody, std::nullopt,
			   [](int socket, pid_t icepath) { serve_injections(socket, icepath, kSomebody); }),
	  pid_(process_.pid()), pidfd_(pidfd_of(pid_))
{}

std::optional<InjectorReply> RawInjector::ask(const InjectorRequest &request, const std::vector<int> &fds)
{
	InjectorReply reply{};
	std::vector<Fd> none;
	if (!channel::send(socket(), &request, sizeof(request), fds) ||
		!channel::receive(socket(), &reply, sizeof(reply), none, 20'000))
		return std::nullopt;
	return reply;
}

bool RawInjector::is_well()
{
	const auto reply = ask(request_of(InjectorRequest::Kind::Ready));
	return reply && !reply->failed;
}

bool RawInjector::has_ended() const { return ends(pidfd_.get()); }

InjectorRequest request_of(InjectorRequest::Kind kind, const std::string &name)
{
	InjectorRequest request{};
	request.kind = kind;
	name.copy(request.name.data(), request.name.size() - 1);
	request.receiver_cpu = static_cast<uint32_t>(sched_getcpu());
	request.sender_cpu = request.receiver_cpu;
	return request;
}

Worker::Worker(Network network, uid_t user)
{
	int ends_of_pipe[2];
	(void)!pipe2(ends_of_pipe, O_CLOEXEC);
	const Fd told(ends_of_pipe[0]);
	Fd teller(ends_of_pipe[1]);
	pid_ = fork();
	if (pid_ == 0) {
		if ((network == Network::Own && unshare(CLONE_NEWNET)) || setresuid(user, user, user))
			_exit(1);
		teller.reset();
		for (;;)
			pause();
	}
	teller.reset();
	char nothing = 0;
	(void)!read(told.get(), &nothing, 1); // its copy is closed
	pidfd_ = pidfd_of(pid_);
}

Worker::~Worker()
{
	kill(pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
}

bool ends(int pidfd)
{
	pollfd end{pidfd, POLLIN, 0};
	return poll(&end, 1, 10'000) == 1;
}

std::vector<pid_t> children_of(pid_t process)
{
	std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
	std::vector<pid_t> children;
	for (pid_t child = 0; file >> child;)
		children.push_back(child);
	return children;
}

std::vector<std::string> groups_of_selftests()
{
	std::vector<std::string> found;
	for (const auto &entry : std::filesystem::directory_iterator(find_cpu_hierarchy().path))
		if (entry.path().filename().string().starts_with(kGroupPrefix))
			found.push_back(entry.path().filename());
	std::ranges::sort(found);
	return found;
}

std::string field_of(pid_t process, const std::string &name)
{
	std::ifstream status("/proc/" + std::to_string(process) + "/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with(name + ":\t"))
			return line.substr(name.size() + 2);
	return {};
}

} // namespace icepath::selftest
