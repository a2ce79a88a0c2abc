// SPDX-License-Identifier: Apache-2.0
#pragma once
// A relay that takes messages from one socket and gives them to another one, in a process of its own, and stamps both. Besides it
// chats: the sender's process has a thread that sends it heartbeats of one byte, which it takes, also while it has a message, and
// answers. Nothing stamps those.
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace icepath::selftest {

struct RelaySockets {
	int in = -1, beats = -1, out = -1; // the relay's ends
};

// It hands a message of so many bytes on once it has had it for `hold_ns`. -1 with errno set.
pid_t start_relay(const RelaySockets &sockets, uint64_t bytes, uint64_t hold_ns);

// A thread that sends heartbeats while messages are being sent: other cells shall not hear of them.
class Heartbeats {
public:
	explicit Heartbeats(int socket);
	~Heartbeats();
	Heartbeats(const Heartbeats &) = delete;
	Heartbeats &operator=(const Heartbeats &) = delete;

	void go_on(); // for some messages' time from now on

private:
	void run(int socket);
	std::atomic<uint64_t> until_ns_{0}; // kOver: for good
	std::thread thread_;
};

} // namespace icepath::selftest
