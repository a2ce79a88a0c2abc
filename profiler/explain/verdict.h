// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which target is the fastest, or what this run doesn't tell apart; and what most of the time of typical messages is.
#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/analysis/layer_style.h"
#include "profiler/analysis/run_result.h"

namespace icepath::explain {

// The verdict on cells that are ranked among each other, by their indices.
struct GroupVerdict {
	// The fastest first, then those that aren't told apart from it: by chance two equals could differ as much, or the
	// interval of their ratio contains 1, or there is none.
	std::vector<size_t> fastest;
	std::vector<analysis::RankedCell> slower; // the others, the fastest of them first; each has a ratio
};

// For each group of two cells or more of which some are ranked.
std::vector<GroupVerdict> verdicts(const analysis::RunResult &result);

// The kind of time that takes most of a cell's typical messages; of several modes, of those in the mode that most
// messages without probes are in.
struct MostTime {
	analysis::LayerKind kind = analysis::LayerKind::Kernel;
	double share = 0; // of their time with probes, 0 to 1
	bool perhaps_by_probes = false; // it leads the next kind by less than probes may add
};

// Nothing where the path of too few messages is known, where no mode has most messages or that one isn't seen with
// probes, and of stamps alone.
std::optional<MostTime> most_time(const analysis::CellResult &cell);

// Whether too little of the cell's modes is known to say what takes most of its time.
bool hides_modes(const analysis::CellResult &cell);

} // namespace icepath::explain
