// SPDX-License-Identifier: Apache-2.0
#pragma once
// `icepath compare --json`: docs/compare-schema.json.
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/compare/comparison.h"

namespace icepath::exports {

inline constexpr int kCompareSchema = 1;

// `run`: of A, which of arms is that of both.
std::string comparisons_json(const analysis::RunResult &run, const std::vector<compare::Comparison> &comparisons);

} // namespace icepath::exports
