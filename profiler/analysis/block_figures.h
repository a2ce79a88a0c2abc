// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures of each block without probes: arms and runs are compared by these, within rounds (profiler/compare).
#include <vector>

#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/seen_block.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::analysis {

// In the order of measuring. A block without a figure isn't in its list, and one that failed or was interrupted is in
// none. In figures of time, lost messages took longer than any that came: one that is itself of a lost message is
// infinite.
struct BlockFigures {
	std::vector<stats::BlockValue> mean_ns; // trimmed geometric mean: stats/round_ratio.h
	std::vector<stats::BlockValue> p50_ns, p99_ns; // of blocks with enough messages, lost ones included
	std::vector<stats::BlockValue> slow; // share of those that came beyond the fastest mode; 0 where there is one
	std::vector<stats::BlockValue> cpu_ns; // of both ends and the daemon, per message sent
	std::vector<stats::BlockValue> lost; // share of messages

	void add(const SeenBlock &unprobed);
	void add_modes(const BlocksOfMessages &unprobed, const CellModes &modes);
};

} // namespace icepath::analysis
