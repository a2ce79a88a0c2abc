// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cells are faster than which: like cells are ranked among each other, by ratios of their blocks' messages within
// rounds (stats/round_ratio.h). Ranks rest on the blocks without probes, as latencies do.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/stats/paired_blocks.h"
#include "profiler/stats/ranks.h"
#include "profiler/stats/round_ratio.h"

namespace icepath::analysis {

// Whether a cell's latency says how fast its target is. It doesn't where there is no target (the stamps alone), and
// where the cell itself sets its rate: the faster it goes, the longer its messages queue.
bool can_be_ranked(const model::Cell &cell);

struct ComparedPair {
	size_t faster = 0, slower = 0; // indices of cells, by the ratio
	stats::RoundRatio ratio; // slower over faster
	std::optional<double> p; // of `ratio`, corrected for all pairs of the run
	// Whether they differ in this run's mixture of the machine's states and, as far as the interval says, in another
	// run's.
	bool told_apart() const
	{
		return p && *p < stats::kToldApart && (ratio.interval.low > 1 || ratio.interval.high < 1);
	}
};

struct RankedCell {
	size_t cell = 0; // index
	// Missing if no other cell of the group could be compared with it in enough openings.
	std::optional<stats::Rank> rank;
	// Over the group's first cell. Missing for that one, and where they share too few rounds.
	std::optional<stats::RoundRatio> to_fastest;
};

// Cells that can be ranked, with one load, wait, place and state of idle CPUs, so that their latencies compare. The
// quality of service may differ: it belongs to the target, and targets without it are compared with those that have it.
struct RankedGroup {
	std::vector<RankedCell> cells; // the fastest first; then those that are in no pair, in the order of the run
	std::vector<ComparedPair> pairs; // of cells with enough rounds in common
	size_t uncompared = 0; // pairs with too few of them, or whose ratio could be anything
};

// The cells that can be ranked, each in one group, in the order of the run. `blocks`: those of each cell, with and
// without probes. Cells without an unprobed block are left out. No message took longer than `most_ns`. O(pairs ·
// blocks).
std::vector<RankedGroup> rank(const std::vector<model::Cell> &cells,
							  const std::vector<std::vector<stats::BlockValue>> &blocks,
							  double most_ns = std::numeric_limits<double>::infinity());

} // namespace icepath::analysis
