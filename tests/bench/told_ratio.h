// SPDX-License-Identifier: Apache-2.0
#pragma once
// How benchmarks tell a ratio and its 95 % interval.
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/stats/paired_blocks.h"

namespace icepath::bench {

nlohmann::ordered_json as_json(const stats::Effect &ratio);
std::string as_text(const stats::Effect &ratio);

} // namespace icepath::bench
