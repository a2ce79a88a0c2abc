// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a block's stamps show without probes: which messages came, and how long each took.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"

namespace icepath::analysis {

// Warm-up messages are in none of these.
struct MessageCounts {
	uint64_t sent = 0;
	uint64_t received = 0; // distinct messages; a duplicate isn't received again
	uint64_t lost = 0; // sent and not received; a block that ended early loses what was in flight
	uint64_t duplicate = 0;
	uint64_t reordered = 0; // received after a message that was sent later
	uint64_t bad_payload = 0; // bytes differ from those sent, or no sent message has the number
	uint64_t inverted = 0; // received before sent, by its stamps: such a message has no latency
	uint64_t late = 0, too_late = 0; // see Lateness; a message counts in at most one
	uint64_t after_next = 0, with_next = 0; // see ComesWithNext; the first has the second
	uint64_t copied_after_all = 0; // zero-copy was asked for, and the kernel reported a copy

	void add(const MessageCounts &more);
};

// The latency above which a message counts as late. It stays in every statistic.
//
// The thresholds are the defaults of iRobot's ros2-performance (--late-percentage 20, --late-absolute 5000 µs,
// --too-late-percentage 100, --too-late-absolute 50000 µs), so that counts compare: a share of the period of messages
// or bursts, and at most the absolute time. Without a schedule there is no period.
struct Lateness {
	uint64_t late_ns = 5'000'000, too_late_ns = 50'000'000; // late: a latency above this
};
Lateness lateness_of(const model::Cell &cell);

// Nanoseconds, in the order of reception or, for pacing and send_call, of sending.
struct BlockLatencies {
	std::vector<std::vector<uint64_t>> by_flow; // recv - send
	std::vector<uint64_t> round_trip; // if answered: side 0's recv of the last response - its send
	std::vector<uint64_t> first_response; // the same with the first response, if there are several
	std::vector<uint64_t> pacing; // open loop: send - intended
	std::vector<uint64_t> from_due; // open loop: recv - intended, of every flow
	std::vector<uint64_t> to_all; // several receivers: send -> the last one's recv, of messages that all got
	std::vector<uint64_t> send_call; // return - call, of every message with a call

	std::vector<uint64_t> all() const; // of every flow
};

// From the first to the last of several instants.
struct Span {
	uint64_t count = 0, first_ns = 0, last_ns = 0;

	void add(uint64_t at_ns);
	// Nothing with fewer than two instants, or if no time passed.
	std::optional<double> per_s() const;
};

// Change of latency from one message to the next, in the order of arrival: the mean of |D| of RFC 3550, 6.4.1,
//
//     D(i, j) = (R_j - R_i) - (S_j - S_i)
//
// which is the difference of the two latencies. The RFC smooths |D| by a sixteenth per message; here it is averaged, so
// that the last messages don't count more than the first.
struct Jitter {
	double sum_ns = 0;
	uint64_t count = 0;

	void add(const std::vector<uint64_t> &latencies); // of consecutive messages
};

// Of messages at set times: those that were received only after the next one was sent, although messages of the block
// mostly take a tenth of the time to the next one or less; and those of these that came within that tenth. A receiver
// that stands still for a while takes what has queued up at any time, so that a tenth of them is chance. If most of
// them come with the next message, that one brings them: they were held until then, or their announcement was lost. Not
// those that their sender kept: it was still in its call, or it stood still and sent the next one late.
struct ComesWithNext {
	static constexpr uint64_t kTimesFaster = 10;
};

struct BlockMessages {
	MessageCounts counts;
	BlockLatencies latencies;
	Span sent, received; // of counted messages in both directions; received: only those with a latency
};

BlockMessages look_at_messages(const model::Block &block, const model::Cell &cell);

} // namespace icepath::analysis
