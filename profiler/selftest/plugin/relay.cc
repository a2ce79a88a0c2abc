// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/plugin/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "icepath/plugin.h"
#include "profiler/selftest/plugin/beside.h"
#include "profiler/selftest/plugin/relay_file.h"
#include "profiler/selftest/plugin/stretch.h"

namespace icepath::selftest {
namespace {

constexpr uint64_t kBeatNs = 250'000, kBeatsForNs = 25'000'000;
constexpr uint64_t kOver = UINT64_MAX;
constexpr size_t kLargest = 4096; // bytes

class Relay {
public:
	Relay(const RelaySockets &sockets, uint64_t bytes, uint64_t hold_ns)
		: sockets_(sockets), bytes_(bytes), hold_ns_(hold_ns), file_(map_file())
	{}

	// Returns when one of the ends is gone.
	void run()
	{
		for (;;) {
			pollfd asked[] = {{sockets_.in, POLLIN, 0}, {sockets_.beats, POLLIN, 0}};
			if (poll(asked, 2, -1) < 0 && errno != EINTR)
				return;
			if (asked[1].revents & POLLIN)
				take_beats();
			if ((asked[0].revents & (POLLIN | POLLHUP)) && !hand_on())
				return;
		}
	}

private:
	// NULL: no stamps requested, or no file possible.
	static RelayFile *map_file()
	{
		const char *folder = std::getenv(kStampsVariable);
		std::string path = std::string(folder ? folder : "") + "/relay-XXXXXX";
		const int fd = folder ? mkostemp(path.data(), O_CLOEXEC) : -1;
		if (fd < 0 || ftruncate(fd, sizeof(RelayFile)))
			return nullptr;
		void *memory = mmap(nullptr, sizeof(RelayFile), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
		close(fd);
		if (memory == MAP_FAILED)
			return nullptr;
		auto *file = static_cast<RelayFile *>(memory);
		file->tid = static_cast<uint32_t>(getpid());
		return file;
	}

	void take_beats() const
	{
		char beat = 0;
		while (recv(sockets_.beats, &beat, 1, MSG_DONTWAIT) == 1)
			send(sockets_.beats, &beat, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}

	bool hand_on()
	{
		std::array<uint8_t, kLargest> message;
		for (uint64_t got = 0; got < bytes_;) {
			const ssize_t moved = read(sockets_.in, message.data() + got, bytes_ - got);
			if (moved <= 0)
				return false;
			got += static_cast<uint64_t>(moved);
		}
		RelayStamp stamp;
		stamp.taken_ns = icepath_now_ns();
		while (icepath_now_ns() < stamp.taken_ns + hold_ns_) {
		}
		take_beats();
		stamp.given_ns = icepath_now_ns();
		if (file_ && handed_on_ < RelayFile::kMost)
			file_->stamps[handed_on_++] = stamp;
		return send(sockets_.out, message.data(), bytes_, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes_);
	}

	const RelaySockets sockets_;
	const uint64_t bytes_, hold_ns_;
	RelayFile *const file_;
	uint32_t handed_on_ = 0;
};

struct Start {
	const RelaySockets *sockets;
	uint64_t bytes, hold_ns;
};

} // namespace

pid_t start_relay(const RelaySockets &sockets, uint64_t bytes, uint64_t hold_ns)
{
	if (bytes > kLargest) {
		errno = EMSGSIZE;
		return -1;
	}
	Start start{&sockets, bytes, hold_ns};
	return start_beside(
		"selftest-relay",
		[](void *with, std::span<const int> fds) {
			const Start &how = *static_cast<Start *>(with);
			Relay({fds[0], fds[1], fds[2]}, how.bytes, how.hold_ns).run();
		},
		&start, std::array{sockets.in, sockets.beats, sockets.out});
}

Heartbeats::Heartbeats(int socket) : thread_([this, socket] { run(socket); }) {}

Heartbeats::~Heartbeats()
{
	until_ns_.store(kOver);
	until_ns_.notify_one();
	thread_.join();
}

void Heartbeats::go_on()
{
	until_ns_.store(icepath_now_ns() + stretched(kBeatsForNs));
	until_ns_.notify_one();
}

void Heartbeats::run(int socket)
{
	prctl(PR_SET_NAME, "selftest-beats");
	for (char beat = 1;;) {
		const uint64_t until_ns = until_ns_.load();
		if (until_ns == kOver)
			return;
		if (icepath_now_ns() > until_ns) {
			until_ns_.wait(until_ns);
			continue;
		}
		sleep_for(kBeatNs);
		send(socket, &beat, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		while (recv(socket, &beat, 1, MSG_DONTWAIT) == 1) {
		}
	}
}

} // namespace icepath::selftest
