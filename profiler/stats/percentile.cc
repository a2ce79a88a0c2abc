// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/percentile.h"

namespace icepath::stats {

uint64_t percentile(std::span<const uint64_t> sorted, Percentile p) { return sorted[rank(sorted.size(), p) - 1]; }

std::optional<uint64_t> supported_percentile(std::span<const uint64_t> sorted, Percentile p)
{
	if (!supported(sorted.size(), p))
		return std::nullopt;
	return percentile(sorted, p);
}

} // namespace icepath::stats
