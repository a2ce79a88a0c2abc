// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/raw_helper.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace icepath::privilege {

namespace {

Identity oneself()
{
	Identity self;
	self.uid = getuid();
	self.gid = getgid();
	return self;
}

RootProcess start(const Identity &user)
{
	if (geteuid() == 0)
		return start_helper(user.uid);
	return {kHelperName, user, std::nullopt,
			[uid = user.uid](int socket, pid_t icepath) { serve(socket, icepath, uid); }};
}

} // namespace

RawHelper::RawHelper() : RawHelper(oneself()) {}

RawHelper::RawHelper(const Identity &user) : process_(start(user))
{
	if (!kIsLoaded)
		return;
	const auto loaded = ask(load_of(0));
	if (!loaded || loaded->exit_code != 0)
		throw std::runtime_error("the helper loads no probes: " + (loaded ? sentence(*loaded) : "it is gone"));
}

bool RawHelper::send(const void *message, size_t bytes, const std::vector<int> &fds)
{
	return channel::send(process_.socket(), message, bytes, fds);
}

void RawHelper::hang_up() { shutdown(process_.socket(), SHUT_RDWR); }

std::optional<HelperReply> RawHelper::ask(const HelperRequest &request, const std::vector<int> &fds)
{
	constexpr int kTimeoutMs = 120'000; // in a virtual machine beside other tests, loading alone takes half a minute
	HelperReply reply{};
	received.clear();
	if (!send(&request, sizeof(request), fds) ||
		!channel::receive(process_.socket(), &reply, sizeof(reply), received, kTimeoutMs))
		return std::nullopt;
	return reply;
}

bool RawHelper::is_well()
{
	const Child child;
	const auto reply = ask(request_of(HelperRequestKind::AddWorker), {child.pidfd()});
	return reply && reply->exit_code == 0;
}

int RawHelper::wait_end()
{
	siginfo_t end{};
	if (waitid(P_PID, static_cast<id_t>(process_.pid()), &end, WEXITED | WNOWAIT))
		return -1;
	return end.si_code == CLD_EXITED ? W_EXITCODE(end.si_status, 0) : end.si_status;
}

size_t RawHelper::open_descriptors() const
{
	const std::filesystem::directory_iterator all("/proc/" + std::to_string(process_.pid()) + "/fd");
	return static_cast<size_t>(std::distance(begin(all), end(all)));
}

HelperRequest request_of(HelperRequestKind kind)
{
	HelperRequest request{};
	request.kind = kind;
	return request;
}

HelperRequest load_of(uint32_t cpu)
{
	HelperRequest request = request_of(HelperRequestKind::Load);
	request.cpu_count = 1;
	request.cpus[0] = cpu;
	request.records_per_slot = 64;
	return request;
}

HelperRequest load_with_samples(uint32_t cpu)
{
	HelperRequest request = load_of(cpu);
	request.samples = 1;
	return request;
}

HelperRequest claim_of(uint32_t cpu)
{
	HelperRequest request = request_of(HelperRequestKind::Claim);
	request.cpu_count = 1;
	request.cpus[0] = cpu;
	return request;
}

std::string sentence(const HelperReply &reply)
{
	return {reply.message.data(), strnlen(reply.message.data(), reply.message.size())};
}

Child::Child(uid_t user)
{
	int ready[2];
	if (pipe(ready))
		throw std::runtime_error("no pipe");
	pid_ = fork();
	if (pid_ == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (user != 0 && setresuid(user, user, user))
			_exit(1);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	char none = 0;
	(void)!read(ready[0], &none, 1); // until the child has its user
	close(ready[0]);
	pidfd_ = pidfd_of(pid_);
}

Child::~Child() { end(); }

void Child::end()
{
	if (pid_ <= 0)
		return;
	kill(pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
	pid_ = -1;
}

} // namespace icepath::privilege
