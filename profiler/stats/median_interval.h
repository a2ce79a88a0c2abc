// SPDX-License-Identifier: Apache-2.0
#pragma once
// The middle of a few values of which some may be far out, and how far it can be trusted.
#include <optional>
#include <vector>

#include "profiler/stats/block_interval.h"

namespace icepath::stats {

struct Middle {
	double median = 0;
	// 95 % or more, whatever the values' distribution: the median lies between two order statistics unless too many of the
	// values fell on one side of it, and how many do is binomial with 1/2 (Conover, "Practical Nonparametric Statistics",
	// 1999, 3.2). Missing below six values, where no two order statistics have that much.
	std::optional<Interval> interval;
};

// Of values in any order, at least one. With an even number the median lies between the two in the middle.
Middle middle_of(std::vector<double> values);

} // namespace icepath::stats
