// SPDX-License-Identifier: Apache-2.0
#pragma once
// One message: its path beside the typical ones of its cell, and what most of its time is.
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/followed_messages.h"
#include "profiler/analysis/run_result.h"

namespace icepath::explain {

// What the time of a segment is booked on: text/blame_words.h words it.
struct Blame {
	path::Culprit::Kind kind = path::Culprit::Kind::None; // None: nothing is to blame. Unknown: no record tells
	bool woke = false; // it ended the sleep of the segment's thread
	bool is_own_timer = false;
	std::string name = {}; // of the task or the interrupt
	std::optional<uint32_t> tid = {}; // of a task with a name: two may share one
	std::optional<uint32_t> cpu = {}; // where the segment's thread ran, or ran next
	friend auto operator<=>(const Blame &, const Blame &) = default;
};

// Who had the CPU for how many ns, the longest first.
using Taken = std::vector<std::pair<std::string, uint64_t>>;

// A segment of the message.
struct MessageStep {
	model::Layer layer = model::Layer::SenderUser;
	model::Part part = model::Part::None;
	uint64_t offset_ns = 0, ns = 0; // offset: since `send`
	std::string thread;
	std::optional<uint32_t> cpu; // where its thread ran, or ran next
	std::string_view known; // of path::kProvenanceNames
	uint64_t bound_ns = 0; // an end is inferred within that time; 0: known better
	Blame blame;
	Taken taken;
	// Its time over the mean of the same layer, part and place in typical messages; nothing: these have no such time,
	// or typical messages aren't known.
	std::optional<double> of_typical;
};

// Of the threads that have segments, by tid; with the tid where another of them has the same name.
std::map<uint32_t, std::string> names_of_threads(const analysis::WorstMessage &message);
// The longest time within which an end of the segment is inferred; 0: both are known better.
uint64_t bound_of(const path::Segment &segment);
// `typical`: the messages to compare it with; nullptr: there are none.
std::vector<MessageStep> steps_of(const analysis::WorstMessage &message, const analysis::LatencyRange *typical);
inline std::vector<MessageStep> steps_of(const analysis::WorstMessage &message, const analysis::CellResult &cell)
{
	return steps_of(message, cell.ranges.tells_typical() ? &*cell.ranges.typical : nullptr);
}

// Which of the steps to show where there are too many: the `most` that take longest, by their indices, in their order.
// All if they are no more.
std::vector<size_t> longest_of(const std::vector<uint64_t> &ns, size_t most);

std::string name_of(const analysis::WorstMessage &message); // "27:490:back", as --message takes it

// What most of its time is.
struct MostOfMessage {
	model::Layer layer = model::Layer::SenderUser;
	model::Part part = model::Part::None;
	Blame who;
	double share = 0; // 0: it has no path
	uint64_t ns = 0;
	Taken taken = {}; // within it
	uint64_t bound_ns = 0; // an end is inferred within that time; 0: known better
	// The inferred end may lie so far elsewhere that the share may be another one.
	bool is_uncertain() const
	{
		constexpr double kFar = 0.1; // of the share's time
		return static_cast<double>(bound_ns) >= kFar * static_cast<double>(ns);
	}
};
MostOfMessage most_of(const analysis::WorstMessage &worst);

Blame blame(const analysis::WorstMessage &worst, size_t segment); // its index in the path

// The slowest message with a complete path; nullptr if there is none.
const analysis::WorstMessage *worst_message(const analysis::RunResult &result);
// The slowest of all where it isn't that one: it has no known path.
struct SlowerMessage {
	size_t cell = 0; // its index
	uint64_t ns = 0;
	bool probed = false; // its path is incomplete; else it is in a block without probes
};
std::optional<SlowerMessage> slower_than(const analysis::WorstMessage &worst, const analysis::RunResult &result);

} // namespace icepath::explain
