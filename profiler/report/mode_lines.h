// SPDX-License-Identifier: Apache-2.0
#pragma once
// What --verbose prints of cells whose messages have several modes: each mode's place, share and layers.
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

// Prints nothing if no cell has modes.
void add_mode_lines(Page &page, const std::vector<CellResult> &cells);

} // namespace icepath::report
