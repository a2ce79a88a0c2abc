// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lines below the table of a report on one screen: the slowest message, what took time, and how far to trust it
// all.

#include "profiler/analysis/run_result.h"
#include "profiler/explain/one_message.h"
#include "profiler/text/page.h"

namespace icepath::text {

// "in a block without probes"
const char *why_no_path(const explain::SlowerMessage &message);
void add_slowest(Page &page, const analysis::RunResult &result);
void add_taken_by(Page &page, const analysis::RunResult &result);
// At most a line each.
void add_trust(Page &page, const analysis::RunResult &result);
// What the run was quiet enough for: in one line where that was measured, or in full.
void add_fit_for(Page &page, const analysis::RunResult &result, bool in_full);

} // namespace icepath::text
