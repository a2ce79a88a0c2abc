// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"

namespace icepath::exports {

// run.json's `ranking`: one entry for each group of like cells. `keys`: of the cells.
nlohmann::ordered_json ranking_json(const analysis::RunResult &result, const std::vector<std::string> &keys);

} // namespace icepath::exports
