// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process that a capture watches, on a CPU of its own. It plays turn after turn, each when it is told to.
#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace icepath::capture {

struct Player {
	// `turn` is run in the process, with the number of the turn; where it returns false the process ends, and the test fails.
	Player(uint32_t cpu, const std::function<bool(int turn)> &play);
	~Player(); // ends it
	Player(const Player &) = delete;
	Player &operator=(const Player &) = delete;
	void go() const; // plays one turn
	void await() const; // until that turn is over
	pid_t pid = -1;
	int pidfd = -1;

private:
	int start_ = -1, done_ = -1; // eventfds: pipes and sockets are what is watched
};

// Whether a process sleeps in the call that it is in.
bool is_asleep(pid_t pid);

} // namespace icepath::capture
