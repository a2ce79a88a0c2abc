// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scripts of report.html draw: percentiles, latencies over time, the slowest messages, flame graphs.
#include <nlohmann/json.hpp>

#include "profiler/analysis/cell_groups.h"
#include "profiler/analysis/run_result.h"

namespace icepath::pages {

nlohmann::ordered_json page_data(const analysis::RunResult &result, const analysis::GroupedCells &cells);

} // namespace icepath::pages
