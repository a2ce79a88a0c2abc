// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the stamps of one block tell without any probe: which messages came, and how long each took.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"

namespace icepath::report {

// Warm-up messages are in none of these.
struct MessageCounts {
	uint64_t sent = 0;
	uint64_t received = 0; // different messages; a duplicate isn't received again
	uint64_t lost = 0;     // sent and not received; a block that was ended early loses what was in flight
	uint64_t duplicate = 0;
	uint64_t reordered = 0;   // came after a message that was sent later
	uint64_t bad_payload = 0; // other bytes than sent, or a number that no sent message has
	uint64_t inverted = 0;    // received before it was sent, by its stamps: such a message has no latency
	uint64_t late = 0, too_late = 0;  // see Lateness; a message is at most one of them
	uint64_t copied_after_all = 0;    // zero-copy was asked for, and the kernel told that it copied

	void add(const MessageCounts &more);
};

// From which latency on a message counts as late. It is in every statistic all the same.
//
// The thresholds are those of iRobot's ros2-performance as it comes (--late-percentage 20, --late-absolute 5000 µs,
// --too-late-percentage 100, --too-late-absolute 50000 µs), so that counts compare: a share of the period in which messages are
// sent, or bursts of them, and no more than the absolute time. What isn't sent by a schedule has no period.
struct Lateness {
	uint64_t late_ns = 5'000'000, too_late_ns = 50'000'000; // a latency above it
};
Lateness lateness_of(const model::Cell &cell);

// Nanoseconds, in the order of reception or, what has none, of sending.
struct BlockLatencies {
	std::vector<std::vector<uint64_t>> by_flow; // recv - send
	std::vector<uint64_t> round_trip; // where it is answered: side 0's recv of the last response - its send
	std::vector<uint64_t> first_response; // likewise of the first, where there are several
	std::vector<uint64_t> pacing; // open loop: send - intended
	std::vector<uint64_t> from_due; // open loop: recv - intended, of every flow
	std::vector<uint64_t> to_all; // several receivers: send -> the last one's recv, of messages that all of them got
	std::vector<uint64_t> send_call; // return - call, of every message; none where no call was made

	std::vector<uint64_t> all() const; // of every flow
};

// From the first to the last of some instants.
struct Span {
	uint64_t count = 0, first_ns = 0, last_ns = 0;

	void add(uint64_t at_ns);
	// Nothing with fewer than two, or where no time passed.
	std::optional<double> per_s() const;
};

// How much the latency changes from one message to the next, in the order of their arrival: |D| of RFC 3550, 6.4.1,
// D(i, j) = (R_j - R_i) - (S_j - S_i), which is the difference of the two latencies. The RFC smooths |D|, a sixteenth for each
// message; here it is averaged, so that the last messages count no more than the first.
struct Jitter {
	double sum_ns = 0;
	uint64_t count = 0;

	void add(const std::vector<uint64_t> &latencies); // of messages that followed each other
};

struct BlockMessages {
	MessageCounts counts;
	BlockLatencies latencies;
	Span sent, received; // of counted messages in both directions; received: those with a latency
};

BlockMessages look_at_messages(const model::Block &block, const model::Cell &cell);

} // namespace icepath::report
