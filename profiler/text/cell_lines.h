// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines of each cell below the table.
#include <vector>

#include "profiler/analysis/cell_result.h"
#include "profiler/text/page.h"

namespace icepath::text {

// What --verbose prints of each cell below the table: layers as numbers, of all messages, of typical ones and of the
// slowest, with a column for each layer; what the probes added; and latency from the due time.
void add_cell_lines(Page &page, const std::vector<analysis::CellResult> &cells);

// What the CPU counted per message of each cell. Prints nothing if no cell has hardware counters.
void add_counter_table(Page &page, const std::vector<analysis::CellResult> &cells);

} // namespace icepath::text
