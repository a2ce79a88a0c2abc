// SPDX-License-Identifier: Apache-2.0
#pragma once
// The columns of the table of cells, and what they mean.
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/text/time_scale.h"

namespace icepath::text {

inline constexpr const char *kNothing = "–";

// One column, with a text for each cell of the run.
struct Column {
	std::string head;
	// Whether a report on one screen has it. One that is too wide loses the columns with the largest number first;
	// those of 0 never.
	bool is_brief = true;
	int dispensable = 0;
	std::vector<std::string> cells = {};
	std::vector<std::vector<std::string>> modes = {}; // of each cell, below its own text; empty: no cell has them there
	bool is_doubtful = false; // this run isn't fit for it
};

using MeasuredCells = std::vector<const analysis::CellResult *>; // of `result`

// All columns that some cell has something for. `all`: also those that one screen has no room for.
std::vector<Column> columns_of(const analysis::RunResult &result, const MeasuredCells &measured, bool all);

// What the columns mean beyond their heads, and what the bars mean.
std::string reading_of(const analysis::RunResult &result, const MeasuredCells &cells,
					   const std::vector<Column> &columns, const TimeScale &scale, bool all);

} // namespace icepath::text
