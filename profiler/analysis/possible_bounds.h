// SPDX-License-Identifier: Apache-2.0
#pragma once
// No message takes longer than all that was measured. An interval of a percentile that ends beyond it shows that the
// blocks tell nothing of that percentile, which then is missing, as where there are too few blocks.
#include <cstdint>
#include <optional>

#include "profiler/stats/block_interval.h"

namespace icepath::analysis {

// `measured_ns`: of all blocks of the run.
void leave_out_beyond(uint64_t measured_ns, stats::Distribution &distribution);
void leave_out_beyond(uint64_t measured_ns, std::optional<stats::Quantile> &quantile); // its interval

} // namespace icepath::analysis
