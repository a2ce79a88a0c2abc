// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order of the cells in a report: groups that have as much in common as possible, the fastest cell of each first.
#include <cstddef>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"

namespace icepath::analysis {

struct CellGroup {
	std::string heading; // what all of its cells have in common: "pingpong, block, 64 B, CPUs kept awake"
	// Indices: stamps alone first, then by rank where all are ranked among each other, else by p50.
	std::vector<size_t> cells;
};

struct GroupedCells {
	std::vector<CellGroup> groups; // of measured cells, in the order of the run
	std::vector<std::string> labels; // of each cell of the run: its target, and what its group's heading doesn't say
};

// Pattern, wait, size, idle states, place and levels stand in headings. As long as groups have fewer than two cells on
// average, the one of these that varies most goes into the labels instead.
GroupedCells grouped_cells(const RunResult &result);

// Whether the cell has stamps alone, which are part of every latency.
bool is_floor(const model::Cell &cell);

// "tcp 64 B", and the pattern and the wait where the run has several of them; the whole title if another cell's is the
// same, with "(own idle states)" if that is the same as well.
std::string brief_title(const RunResult &result, const model::Cell &cell);

// "64 KiB", "64 KiB in 8"
std::string size_text(const model::Cell &cell);

} // namespace icepath::analysis
