// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lines below the table: how often fresh processes measured the cells, and what state of the machine affects
// latencies.
#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

void add_run_state(Page &page, const RunResult &result);

} // namespace icepath::report
