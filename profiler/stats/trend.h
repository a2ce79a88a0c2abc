// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a run drifted: a straight line through the logarithms of what was measured one after the other.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/block_interval.h"

namespace icepath::stats {

struct TimedValue {
	uint64_t at_ns = 0;
	double value = 0; // above 0; others are left out
};

struct Trend {
	double ratio = 1; // of the line's end to its begin: 1.02 is 2 % more
	Interval interval; // of it: least squares, Student's t with n - 2
	double p = 1; // that values without a trend give such a slope or a steeper one
	size_t values = 0;
};

// In any order. Nothing of fewer than kLeastOfTrend values, of values at one time, or of values that are all the same.
inline constexpr size_t kLeastOfTrend = 5;
std::optional<Trend> trend_of(const std::vector<TimedValue> &values);

} // namespace icepath::stats
