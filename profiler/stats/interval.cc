// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/interval.h"

#include <algorithm>
#include <cmath>

namespace icepath::stats {
namespace {

// Number of values to cut off at each end: the largest k with P(binomial(n, 1/2) < k) <= 2.5 %. 0: none.
size_t cut_off(size_t n)
{
	const double log_half_n = -static_cast<double>(n) * std::log(2);
	double below = 0, log_choose = 0; // of n choose k
	for (size_t k = 0; 2 * k < n; k++) {
		below += std::exp(log_choose + log_half_n);
		if (below > 0.025)
			return k;
		log_choose += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
	}
	return n / 2;
}

} // namespace

Middle middle_of(std::vector<double> values)
{
	std::ranges::sort(values);
	const size_t n = values.size(), cut = cut_off(n);
	Middle middle;
	middle.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
	if (cut > 0)
		middle.interval = Interval{values[cut - 1], values[n - cut]};
	return middle;
}

} // namespace icepath::stats
