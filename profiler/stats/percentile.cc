// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/percentile.h"

#include <algorithm>

namespace icepath::stats {

uint64_t percentile(std::span<const uint64_t> sorted, Percentile p) { return sorted[rank(sorted.size(), p) - 1]; }

double median(std::vector<double> values)
{
	const auto middle = values.begin() + static_cast<ptrdiff_t>(rank(values.size(), kP50) - 1);
	std::nth_element(values.begin(), middle, values.end());
	return *middle;
}

} // namespace icepath::stats
