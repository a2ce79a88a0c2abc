// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drift of a run: a straight line through the logarithms of values measured one after the other.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/block_interval.h"

namespace icepath::stats {

struct TimedValue {
	uint64_t at_ns = 0;
	double value = 0; // above 0; other values are left out
};

struct Trend {
	double ratio = 1; // the line's end over its begin: 1.02 is 2 % more
	Interval interval; // of the ratio: least squares, Student's t with n - 2
	double p = 1; // probability of such a slope or a steeper one without a trend
	size_t values = 0;
};

// `values` in any order. Nothing if there are fewer than kLeastOfTrend, all are of one time, or all are equal.
inline constexpr size_t kLeastOfTrend = 5;
std::optional<Trend> trend_of(const std::vector<TimedValue> &values);

} // namespace icepath::stats
