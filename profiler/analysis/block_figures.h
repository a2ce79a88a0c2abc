// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures of each block without probes: arms and runs are compared by these, within rounds (profiler/compare).
#include <vector>

#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/seen_block.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::analysis {

// In the order of measuring. A block without a figure isn't in its list.
struct BlockFigures {
	std::vector<stats::BlockValue> mean_ns; // trimmed geometric mean, which ranks compare as well
	std::vector<stats::BlockValue> p50_ns, p99_ns; // of blocks whose messages support one
	std::vector<stats::BlockValue> slow; // share of messages beyond the fastest mode; empty: there is one mode
	std::vector<stats::BlockValue> cpu_ns; // of both ends and the daemon, per message sent; of blocks that didn't fail
	std::vector<stats::BlockValue> lost; // share of messages; of blocks that ended as they should

	void add(const SeenBlock &unprobed);
	void add_modes(const BlocksOfMessages &unprobed, const CellModes &modes);
};

} // namespace icepath::analysis
