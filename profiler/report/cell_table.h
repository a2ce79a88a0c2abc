// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

// The measured cells, one line each: latency, where it goes, what it costs. Legend and reading aid follow. Says so where there are none.
void add_cell_table(Page &page, const RunResult &result);

} // namespace icepath::report
