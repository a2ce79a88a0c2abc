// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `icepath attach` knows of the programs that it watches besides their records.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace icepath::model {

// A process that was attached to. Its threads, and the processes that it starts later, are in the records.
struct Target {
	uint32_t process = 0; // in the initial pid namespace
	std::string name;
	uint64_t start_ns = 0; // of the process, by CLOCK_MONOTONIC; with the number it names one process for ever
	friend bool operator==(const Target &, const Target &) = default;
};

// What bytes pass through between two ends. All of these keep their order.
enum class StreamKind : uint8_t { UnixStream, Tcp, Pipe, Fifo };

// How an end came to be. A socket pair and a pipe have none.
enum class EndRole : uint8_t { Unknown, Connected, Accepted };

struct ConnectionEnd {
	uint64_t object = 0; // the name that calls have for it: icepath_record.call.object; 0: not seen
	uint32_t process = 0; // one that has it open; 0: none that is watched
	std::string process_name;
	EndRole role = EndRole::Unknown;
	friend bool operator==(const ConnectionEnd &, const ConnectionEnd &) = default;
};

// Both ends of a pipe have the same object: the first one is written to, the second one read.
struct Connection {
	StreamKind kind = StreamKind::UnixStream;
	std::array<ConnectionEnd, 2> ends;
	bool leaves_machine = false; // the other end is on another machine
	friend bool operator==(const Connection &, const Connection &) = default;
};

// Calls that move something by a way that isn't followed.
struct UnfollowedCalls {
	std::string what; // "UDP", "message queue", "eventfd", "io_uring" …
	std::string process_name;
	uint64_t calls = 0;
	friend bool operator==(const UnfollowedCalls &, const UnfollowedCalls &) = default;
};

// Known as the watching began.
struct Attached {
	std::vector<Target> targets;
	friend bool operator==(const Attached &, const Attached &) = default;
};

// Known as it ended.
struct Detached {
	std::vector<Connection> connections;
	std::vector<UnfollowedCalls> unfollowed;
	friend bool operator==(const Detached &, const Detached &) = default;
};

} // namespace icepath::model
