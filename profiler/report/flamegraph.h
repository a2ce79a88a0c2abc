// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flame graph: stacks of layers, as folded text and as an SVG.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// Latency on messages' paths as stacks: target → payload → layer → part → thread. The weight is in nanoseconds over all
// messages with a complete path; it isn't CPU time.
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

// Stacks as an SVG without scripts: the width is the weight in nanoseconds, the root is at the bottom. A frame's
// tooltip has its way from the target, its time in sum and per message of its cell, and its share. Equal stacks give
// equal bytes.
std::string flamegraph_svg(const Stacks &stacks, const MessagesOfCells &messages, const std::string &title);

} // namespace icepath::report
