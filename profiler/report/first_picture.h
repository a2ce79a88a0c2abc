// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first picture of report.html: each cell's typical message, or each of its modes, and its slow messages as bars on
// one axis in µs, divided by kinds of time.
#include <string>

#include "profiler/report/aggregate.h"
#include "profiler/report/cell_groups.h"

namespace icepath::report {

std::string first_picture(const RunResult &result, const GroupedCells &cells);
// Whether a bar has "?": kDoubtReading says what that means.
bool has_doubtful_bar(const RunResult &result);

} // namespace icepath::report
