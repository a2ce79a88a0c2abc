// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reader of the report must know before believing it.
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// One sentence each; those that the run itself wrote come first.
std::vector<std::string> notices(const RunResult &result);

// What --strict doesn't allow, summed up over the cells: what was planned and not measured, and what was lost that
// shouldn't be. Messages without a breakdown aren't among it.
std::vector<std::string> flaws(const RunResult &result);
bool valid(const RunResult &result); // without flaws

// "uds-stream 64 B pingpong block": a cell in one sentence. A cell with a delay put into it says so.
std::string title(const rundir::Cell &cell);

std::string_view pattern_name(rundir::Pattern pattern);
std::string_view wait_name(rundir::Wait wait);

} // namespace icepath::report
