// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "profiler/report/aggregate.h"

namespace icepath::report {

// run.json's `ranking`: one entry for each group of like cells. Cells are indices into `cells`.
nlohmann::ordered_json ranking_json(const RunResult &result);

} // namespace icepath::report
