// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/plugin/own_delay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "profiler/selftest/plugin/fixed_work.h"

namespace icepath::selftest {
namespace {

constexpr int kPipeBytes = 4096; // one page, so that one write of as much fills it

class Worked : public OwnDelay {
public:
	bool before_send() override
	{
		work(rounds_);
		return true;
	}

private:
	const uint64_t rounds_ = std::getenv(kWorkVariable) ? std::strtoull(std::getenv(kWorkVariable), nullptr, 10) : 0;
};

class Asleep : public OwnDelay {
public:
	explicit Asleep(uint64_t ns) : ns_(ns) {}
	bool before_ask() override { return sleep_for(ns_); }

private:
	const uint64_t ns_;
};

// tcp(7): a partial frame is held as long as the socket is corked, 200 ms at most.
class Corked : public OwnDelay {
public:
	Corked(uint64_t ns, int socket) : ns_(ns), socket_(socket) {}
	bool before_send() override { return cork(1); }
	bool after_send() override { return sleep_for(ns_) && cork(0); }

private:
	bool cork(int on) const { return setsockopt(socket_, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)) == 0; }
	const uint64_t ns_;
	const int socket_;
};

class FullPipe : public OwnDelay {
public:
	FullPipe(uint64_t ns, int fd) : ns_(ns), fd_(fd) {}
	bool before_send() override { return write(fd_, filling_.data(), filling_.size()) == kPipeBytes; }
	bool before_ask() override
	{
		pollfd filled{fd_, POLLIN, 0};
		if (poll(&filled, 1, -1) < 0)
			return errno == EINTR; // cancelled: the call that follows looks
		return sleep_for(ns_) && read(fd_, filling_.data(), filling_.size()) >= 0;
	}

private:
	const uint64_t ns_;
	const int fd_;
	std::array<uint8_t, kPipeBytes> filling_{};
};

} // namespace

bool sleep_for(uint64_t ns)
{
	const timespec pause{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
	return ns == 0 || nanosleep(&pause, nullptr) == 0 || errno == EINTR;
}

pid_t start_beside(void (*work)(void *), void *with, int fd)
{
	const pid_t parent = getpid(), process = fork();
	if (process != 0)
		return process;
	prctl(PR_SET_NAME, "selftest-beside");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	if (fd >= 0 && fd != 3)
		dup3(fd, 3, O_CLOEXEC);
	syscall(SYS_close_range, fd >= 0 ? 4u : 3u, ~0u, 0u); // a worker's descriptors would hide its end from its peers
	work(with);
	_exit(0);
}

void end_beside(pid_t process)
{
	if (process <= 0)
		return;
	kill(process, SIGKILL); // not reaped yet: the number is still its
	waitpid(process, nullptr, 0);
}

std::unique_ptr<OwnDelay> own_delay(Own own, uint64_t ns, const transports::ChannelEnd &end, int fd)
{
	switch (own) {
	case Own::Work:
		return std::make_unique<Worked>();
	case Own::Asleep:
		return std::make_unique<Asleep>(ns);
	case Own::Held:
		return std::make_unique<Corked>(ns, fd);
	case Own::FullQueue:
		if (fcntl(fd, F_SETPIPE_SZ, kPipeBytes) != kPipeBytes)
			return nullptr;
		return std::make_unique<FullPipe>(ns, fd);
	case Own::Lock:
		return end.sends ? lock_of_another(ns) : std::make_unique<OwnDelay>();
	case Own::Fault:
		return end.sends ? page_of_another(ns) : std::make_unique<OwnDelay>();
	}
	return nullptr;
}

} // namespace icepath::selftest
