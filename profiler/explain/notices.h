// SPDX-License-Identifier: Apache-2.0
#pragma once
// What to know before trusting the report.
#include <optional>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"

namespace icepath::explain {

// What the run recorded, then what is known of the whole run, then of its cells: in the order of FindingId, then of the
// cells.
std::vector<Finding> notices(const analysis::RunResult &result);

// Why there is less than was planned; nothing if the run is complete.
std::optional<Finding> unfinished(const analysis::RunResult &result);

// What --strict rejects, summed over the cells: what was planned but not measured, and what was lost and shouldn't be.
// Messages without a breakdown aren't flaws.
std::vector<Finding> flaws(const analysis::RunResult &result);
bool valid(const analysis::RunResult &result); // without flaws

} // namespace icepath::explain
