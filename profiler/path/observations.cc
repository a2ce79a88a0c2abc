// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/observations.h"

#include <algorithm>

namespace icepath::path {

uint64_t unreadable_records(const Observations &seen)
{
	uint64_t sum = 0;
	for (const LossWindow &lost : seen.lost)
		sum += lost.unreadable ? lost.count : 0;
	return sum;
}

bool lost_within(const Observations &seen, uint64_t begin_ns, uint64_t end_ns)
{
	return std::ranges::any_of(
		seen.lost, [&](const LossWindow &lost) { return lost.begin_ns <= end_ns && lost.end_ns >= begin_ns; });
}

} // namespace icepath::path
