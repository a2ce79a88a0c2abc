// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/raw_helper.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace icepath::privilege {

RawHelper::RawHelper()
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t icepath = getpid();
	pid_ = fork();
	if (pid_ == 0) {
		ours.reset();
		serve(theirs.get(), icepath, getuid());
		_exit(0);
	}
	socket_ = std::move(ours);
}

RawHelper::~RawHelper()
{
	hang_up();
	wait_end();
}

bool RawHelper::send(const void *message, size_t bytes, const std::vector<int> &fds)
{
	return channel::send(socket_.get(), message, bytes, fds);
}

std::optional<HelperReply> RawHelper::ask(const HelperRequest &request, const std::vector<int> &fds)
{
	constexpr int kTimeoutMs = 30'000;
	HelperReply reply{};
	received.clear();
	if (!send(&request, sizeof(request), fds) ||
		!channel::receive(socket_.get(), &reply, sizeof(reply), received, kTimeoutMs))
		return std::nullopt;
	return reply;
}

bool RawHelper::is_well()
{
	const Child child;
	HelperRequest request = request_of(HelperRequestKind::AddWorker);
	request.cpu = static_cast<uint32_t>(sched_getcpu());
	const auto reply = ask(request, {child.pidfd()});
	return reply && reply->exit_code == 0;
}

int RawHelper::wait_end()
{
	int status = -1;
	if (pid_ > 0)
		waitpid(pid_, &status, 0);
	pid_ = -1;
	return status;
}

size_t RawHelper::open_descriptors() const
{
	const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid_) + "/fd");
	return static_cast<size_t>(std::distance(begin(all), end(all)));
}

HelperRequest request_of(HelperRequestKind kind)
{
	HelperRequest request{};
	request.kind = kind;
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
	(void)!read(ready[0], &none, 1); // until the child is who it shall be
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

Fd pidfd_of(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

} // namespace icepath::privilege
