// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/interval_text.h"

#include "profiler/report/quantity.h"

namespace icepath::report {

// Digits after "±" make sense only for an interval smaller than the value. A value of 0 has no percentage.
std::string interval_text(double ns, const stats::Interval &interval)
{
	const double half = (interval.high - interval.low) / 2;
	return half < ns || half == 0 ? " ±" + microseconds_beside(half, ns) : " ±>100%";
}

std::string percentile_text(const stats::Distribution &d, size_t which)
{
	if (!d.percentiles[which] || !d.intervals[which])
		return "–";
	const auto ns = static_cast<double>(*d.percentiles[which]);
	return microseconds(ns) + interval_text(ns, *d.intervals[which]);
}

std::string effect_text(const std::optional<stats::Effect> &effect)
{
	if (!effect)
		return "–";
	const auto &[mean, pairs, interval] = *effect;
	return (mean < 0 ? "" : "+") + microseconds(mean) +
		   (interval ? " ±" + microseconds_beside((interval->high - interval->low) / 2, mean) : " ±?");
}

} // namespace icepath::report
