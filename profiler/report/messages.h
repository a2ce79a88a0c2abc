// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the stamps of one block tell without any probe: which messages came, and how long each took.
#include <array>
#include <cstdint>
#include <vector>

#include "profiler/rundir/block.h"
#include "profiler/rundir/run.h"

namespace icepath::report {

// Lead-in messages are in none of these.
struct MessageCounts {
	uint64_t sent = 0;
	uint64_t received = 0; // different messages; a duplicate isn't received again
	uint64_t lost = 0;     // sent and not received; a block that was ended early loses what was in flight
	uint64_t duplicate = 0;
	uint64_t reordered = 0;   // came after a message that was sent later
	uint64_t bad_payload = 0; // other bytes than sent, or a number that no sent message has
	uint64_t inverted = 0;    // received before it was sent, by its stamps: such a message has no latency

	void add(const MessageCounts &more);
};

// Nanoseconds, in no particular order.
struct BlockLatencies {
	std::array<std::vector<uint64_t>, 2> one_way; // recv - send of messages from side 0, from side 1
	std::vector<uint64_t> round_trip;             // pingpong: side 0's recv - its send
	std::vector<uint64_t> pacing;                 // open loop: send - intended
};

struct BlockMessages {
	MessageCounts counts;
	BlockLatencies latencies;
};

BlockMessages look_at_messages(const rundir::Block &block, const rundir::Cell &cell);

} // namespace icepath::report
