// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ratio of two things that were measured in turns, and how benchmarks tell it and its 95 % interval.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/stats/paired_blocks.h"

namespace icepath::bench {

// A first value that was measured before and after the second, as its mean, has no drift against that: so the pairs
// have either order in turn, and the mean of both orders is that of all.
std::vector<stats::BlockPair> without_order(const std::vector<std::pair<double, double>> &pairs);

// Geometric mean of treated / untreated with its interval, by stats::paired_difference() of the logarithms. Omits pairs
// with a value <= 0.
std::optional<stats::Effect> paired_ratio(const std::vector<stats::BlockPair> &pairs);

nlohmann::ordered_json as_json(const stats::Effect &ratio);
std::string as_text(const stats::Effect &ratio);

} // namespace icepath::bench
