// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/possible_bounds.h"

#include <cstddef>

namespace icepath::analysis {
namespace {

bool ends_beyond(uint64_t measured_ns, const std::optional<stats::Interval> &interval)
{
	return interval && interval->high > static_cast<double>(measured_ns);
}

} // namespace

void leave_out_beyond(uint64_t measured_ns, stats::Distribution &distribution)
{
	for (size_t i = 0; i < distribution.intervals.size(); ++i)
		if (ends_beyond(measured_ns, distribution.intervals[i])) {
			distribution.intervals[i].reset();
			distribution.percentiles[i].reset();
		}
	for (auto *interval : {&distribution.standard_deviation_interval, &distribution.median_deviation_interval})
		if (ends_beyond(measured_ns, *interval))
			interval->reset();
}

void leave_out_beyond(uint64_t measured_ns, std::optional<stats::Quantile> &quantile)
{
	if (quantile && ends_beyond(measured_ns, quantile->interval))
		quantile->interval.reset();
}

} // namespace icepath::analysis
