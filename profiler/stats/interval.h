// SPDX-License-Identifier: Apache-2.0
#pragma once
// An interval, and that of the median of a few values.
#include <optional>
#include <vector>

namespace icepath::stats {

struct Interval {
	double low = 0, high = 0; // 95 %
};

// The median of a few values, some of which may be far out, and its interval.
struct Middle {
	double median = 0;
	// 95 % or more, whatever the distribution: the median lies between two order statistics unless too many values fell
	// on one side of it, and that number is binomial with 1/2 (Conover, "Practical Nonparametric Statistics", 1999,
	// 3.2). Missing below six values: no two order statistics reach 95 %.
	std::optional<Interval> interval;
};

// `values`: at least one, in any order. For an even number the median lies halfway between the two in the middle.
Middle middle_of(std::vector<double> values);

} // namespace icepath::stats
