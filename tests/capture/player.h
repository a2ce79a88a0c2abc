// SPDX-License-Identifier: Apache-2.0
#pragma once
// A watched process on its own CPU that plays one turn for each request.
#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace icepath::capture {

struct Player {
	// The process calls `play` with the turn's number; if that returns false, the process ends and the test fails.
	Player(uint32_t cpu, const std::function<bool(int turn)> &play);
	~Player(); // ends it
	Player(const Player &) = delete;
	Player &operator=(const Player &) = delete;
	void go() const; // plays one turn
	void await() const; // until the turn is over
	pid_t pid = -1;
	int pidfd = -1;

private:
	int start_ = -1, done_ = -1; // eventfds, because pipes and sockets are under observation
};

// Whether a process sleeps in its current call.
bool is_asleep(pid_t pid);

} // namespace icepath::capture
