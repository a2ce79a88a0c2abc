// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

// What --verbose prints of each cell below the table: layers as numbers of typical messages, in the mean and of the
// slowest; what the probes added; and latency from the due time.
void add_cell_lines(Page &page, const std::vector<CellResult> &cells);

} // namespace icepath::report
