// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

// The measured cells with one line each: latency, where it goes, what it costs; then legend and explanation. Says so if
// there are none. `all`: with every column and its meaning, however wide; otherwise what a page has room for.
void add_cell_table(Page &page, const RunResult &result, bool all);

} // namespace icepath::report
