// SPDX-License-Identifier: Apache-2.0
#pragma once
// A relay that takes messages from one socket and sends them to another, in its own process, and stamps both. It also
// handles heartbeats: a thread of the sender's process sends it single bytes, which it takes, also while it holds a
// message, and answers. Nothing stamps those.
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace icepath::selftest {

struct RelaySockets {
	int in = -1, beats = -1, out = -1; // the relay's ends
};

// It passes on each message of `bytes` after holding it for `hold_ns`. -1 with errno set.
pid_t start_relay(const RelaySockets &sockets, uint64_t bytes, uint64_t hold_ns);

// A thread that sends heartbeats while messages are being sent, so that they don't reach other cells.
class Heartbeats {
public:
	explicit Heartbeats(int socket);
	~Heartbeats();
	Heartbeats(const Heartbeats &) = delete;
	Heartbeats &operator=(const Heartbeats &) = delete;

	void go_on(); // for the time of some messages from now

private:
	void run(int socket);
	std::atomic<uint64_t> until_ns_{0}; // kOver: stops for good
	std::thread thread_;
};

} // namespace icepath::selftest
