// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/round_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace icepath::stats {

double trimmed_geometric_mean(std::span<const uint64_t> sorted, uint64_t lost)
{
	const size_t all = sorted.size() + lost, cut = all / 10;
	if (lost > cut)
		return std::numeric_limits<double>::infinity();
	const auto kept = sorted.subspan(cut, all - 2 * cut);
	double logs = 0;
	for (const uint64_t value : kept)
		logs += std::log(static_cast<double>(std::max<uint64_t>(value, 1)));
	return std::exp(logs / static_cast<double>(kept.size()));
}

RoundRatio as_ratio(const RoundDifference &of_logs)
{
	const Interval interval = of_logs.interval();
	return {std::exp(of_logs.mean),
			of_logs.rounds,
			of_logs.openings,
			{std::exp(interval.low), std::exp(interval.high)},
			of_logs.p};
}

std::optional<RoundRatio> ratio_within_rounds(const std::vector<BlockValue> &a, const std::vector<BlockValue> &b)
{
	const auto difference = difference_within_rounds(a, b, Scale::Logs, Trim::Fifths);
	return difference ? std::optional(as_ratio(*difference)) : std::nullopt;
}

RoundRatio inverse(RoundRatio ratio)
{
	ratio.ratio = 1 / ratio.ratio;
	ratio.interval = {1 / ratio.interval.high, 1 / ratio.interval.low};
	return ratio;
}

double times_too_wide(const RoundRatio &ratio, const std::vector<BlockValue> &a, const std::vector<BlockValue> &b,
					  double most)
{
	const auto least = [&](const std::vector<BlockValue> &blocks) {
		double value = most;
		for (const BlockValue &block : blocks)
			if (!block.treated && block.value > 0)
				value = std::min(value, block.value);
		return value;
	};
	const double highest = std::log(most / least(b)), lowest = std::log(least(a) / most);
	return std::max(highest > 0 ? std::log(ratio.interval.high) / highest : 0,
					lowest < 0 ? std::log(ratio.interval.low) / lowest : 0);
}

} // namespace icepath::stats
