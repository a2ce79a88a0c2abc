// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values with their intervals, in µs.
#include <optional>
#include <string>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::report {

// " ±0.12": half of the interval with the value's digits; " ±>100%" if it is as wide as that.
std::string interval_text(double ns, const stats::Interval &interval);

// "5.34 ±0.12"; "–" if missing: none is shown without its interval.
std::string percentile_text(const stats::Distribution &distribution, size_t which);

// "+0.200 ±0.018"; "±?" if no interval is known; "–" if nothing is.
std::string effect_text(const std::optional<stats::Effect> &effect);

} // namespace icepath::report
