// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// run.json's `ranking`: one entry for each group of like cells. `keys`: of the cells.
nlohmann::ordered_json ranking_json(const RunResult &result, const std::vector<std::string> &keys);

} // namespace icepath::report
