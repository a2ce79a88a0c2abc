// SPDX-License-Identifier: Apache-2.0
#pragma once
// One figure leads where cells are compared: the ratio within rounds (analysis/ranking.h), of all messages of a block
// but its fastest and slowest tenth. Ranks, "x fastest", the headline and `icepath explain --against` are made of it.
// The p50s that stand beside it are of the whole run and of one message: where they say something else, that is told in
// its place, by what is here.
#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"

namespace icepath::explain {

// How many times as long the p50 of `slower` is as that of `faster`, where that lies outside of the interval of
// `ratio`, slower over faster. Nothing: within it, or one has no p50 or one that lies between modes.
std::optional<double> other_ratio_by_p50(const analysis::RunResult &result, size_t slower, size_t faster,
										 const stats::RoundRatio &ratio);

// A finding for each group of cells in which p50s have another order than ranks that are told apart: of the pair whose
// p50s differ most.
std::vector<Finding> other_orders_by_p50(const analysis::RunResult &result);

} // namespace icepath::explain
