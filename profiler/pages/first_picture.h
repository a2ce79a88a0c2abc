// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first picture of report.html: each cell's typical message, or each of its modes, and its slow messages as bars on
// one axis in µs, divided by kinds of time.
#include <string>

#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/run_result.h"

namespace icepath::pages {

std::string first_picture(const analysis::RunResult &result, const analysis::GroupedCells &cells);
// Whether a bar has "?": kDoubtReading says what that means.
bool has_doubtful_bar(const analysis::RunResult &result);

} // namespace icepath::pages
