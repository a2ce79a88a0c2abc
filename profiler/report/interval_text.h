// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values with their intervals, in µs.
#include <optional>
#include <string>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::report {

// " ±0.12", half of the interval, with the digits of the value; " ±>100%" where it is as wide as that.
std::string interval_text(double ns, const stats::Interval &interval);

// "5.34 ±0.12"; "–" where it isn't told: none is without its interval.
std::string percentile_text(const stats::Distribution &distribution, size_t which);

// "+0.200 ±0.018", "±?" where no interval is known; "–" where nothing is.
std::string effect_text(const std::optional<stats::Effect> &effect);

} // namespace icepath::report
