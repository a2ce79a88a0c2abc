// SPDX-License-Identifier: Apache-2.0
#pragma once
// Latency on messages' paths as stacks: target → payload → layer → part → thread. The weight is in nanoseconds over all
// messages with a complete path; it isn't CPU time.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"

namespace icepath::report {

struct Frame {
	std::string name;
	int layer = -1; // model::Layer of this frame and those on it; -1: below the layers' frames
	friend auto operator<=>(const Frame &a, const Frame &b) { return a.name <=> b.name; }
	friend bool operator==(const Frame &a, const Frame &b) { return a.name == b.name; }
};

// Ordered by name, so that the files of one run are always the same.
using Stacks = std::map<std::vector<Frame>, uint64_t>;

Stacks stacks(const RunResult &result);

// Number of messages with a complete path behind the weights, by a cell's two frames, target and payload.
using MessagesOfCells = std::map<std::vector<Frame>, uint64_t>;
MessagesOfCells messages_of_cells(const RunResult &result);

// One line for each stack, "frame;frame;frame weight", as flamegraph.pl, inferno and speedscope read them.
std::string folded(const Stacks &stacks);

} // namespace icepath::report
