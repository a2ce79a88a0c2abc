// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/trend.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/distributions.h"

namespace icepath::stats {

std::optional<Trend> trend_of(const std::vector<TimedValue> &all)
{
	std::vector<TimedValue> values;
	std::ranges::copy_if(all, std::back_inserter(values), [](const TimedValue &one) { return one.value > 0; });
	if (values.size() < kLeastOfTrend)
		return std::nullopt;
	const auto [first, last] = std::ranges::minmax_element(values, {}, &TimedValue::at_ns);
	const uint64_t begin_ns = first->at_ns, span_ns = last->at_ns - begin_ns;
	if (span_ns == 0)
		return std::nullopt;
	const double count = static_cast<double>(values.size());
	// From 0 at the begin to 1 at the end, so the slope is the total change.
	const auto place = [&](const TimedValue &one) {
		return static_cast<double>(one.at_ns - begin_ns) / static_cast<double>(span_ns);
	};
	double mean_place = 0, mean_log = 0;
	for (const TimedValue &one : values) {
		mean_place += place(one) / count;
		mean_log += std::log(one.value) / count;
	}
	double squares = 0, products = 0, all_squares = 0;
	for (const TimedValue &one : values) {
		const double away = place(one) - mean_place, up = std::log(one.value) - mean_log;
		squares += away * away;
		products += away * up;
		all_squares += up * up;
	}
	const double slope = products / squares;
	const double left = std::max(0.0, all_squares - slope * products);
	const double error = std::sqrt(left / (count - 2) / squares);
	if (std::ranges::all_of(values, [&](const TimedValue &one) { return one.value == first->value; }) || !(error > 0))
		return std::nullopt;
	const double half = t_975(count - 2) * error;
	return Trend{std::exp(slope),
				 {std::exp(slope - half), std::exp(slope + half)},
				 t_beyond(std::abs(slope) / error, count - 2),
				 values.size()};
}

} // namespace icepath::stats
