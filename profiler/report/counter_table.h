// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

// What the CPU counted per message of each cell. Prints nothing if no cell has hardware counters.
void add_counter_table(Page &page, const std::vector<CellResult> &cells);

} // namespace icepath::report
