// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scripts of report.html draw: percentiles, latencies over time, the slowest messages, flame graphs.
#include <nlohmann/json.hpp>

#include "profiler/report/aggregate.h"
#include "profiler/report/cell_groups.h"

namespace icepath::report {

nlohmann::ordered_json page_data(const RunResult &result, const GroupedCells &cells);

} // namespace icepath::report
