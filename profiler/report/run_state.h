// SPDX-License-Identifier: Apache-2.0
#pragma once
// Under the table: how often cells were measured by fresh processes, and what of the machine decides latencies with them.
#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

void add_run_state(Page &page, const RunResult &result);

} // namespace icepath::report
