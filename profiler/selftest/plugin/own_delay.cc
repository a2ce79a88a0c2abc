// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/plugin/own_delay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "profiler/selftest/plugin/beside.h"
#include "profiler/selftest/plugin/fixed_work.h"

namespace icepath::selftest {
namespace {

constexpr int kPipeBytes = 4096; // one page, so that one write of that size fills it

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

// tcp(7): a corked socket holds a partial frame, for at most 200 ms.
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
			return errno == EINTR; // cancelled: the next call checks
		return sleep_for(ns_) && read(fd_, filling_.data(), filling_.size()) >= 0;
	}

private:
	const uint64_t ns_;
	const int fd_;
	std::array<uint8_t, kPipeBytes> filling_{};
};

} // namespace

std::unique_ptr<OwnDelay> own_delay(Own own, uint64_t ns, const plugin_kit::ChannelEnd &end, int fd)
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
