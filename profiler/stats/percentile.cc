// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/percentile.h"

namespace icepath::stats {

uint64_t percentile(std::span<const uint64_t> sorted, Percentile p) { return sorted[rank(sorted.size(), p) - 1]; }

} // namespace icepath::stats
