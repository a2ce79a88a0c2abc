// SPDX-License-Identifier: Apache-2.0
#pragma once
// What --verbose prints of cells whose messages have several modes: each mode's place, share and layers.
#include <vector>

#include "profiler/analysis/cell_result.h"
#include "profiler/text/page.h"

namespace icepath::text {

// Prints nothing if no cell has modes.
void add_mode_lines(Page &page, const std::vector<analysis::CellResult> &cells);

// A section for the cell: how its modes differ.
void add_mode_differences(Page &page, const analysis::CellResult &cell);

} // namespace icepath::text
