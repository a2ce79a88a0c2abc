// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/equivalence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

// Of the limit, with so many openings.
double what_is_left(const Margin &margin, size_t openings)
{
	constexpr double kOfThree = 3;
	return margin.limit - kOfThree / static_cast<double>(openings) * margin.unseen;
}

// The probability that Student's t is above `t`.
double t_above(double t, double freedom) { return t >= 0 ? t_beyond(t, freedom) / 2 : 1 - t_beyond(-t, freedom) / 2; }

double normal_within(double half) { return std::erf(half / std::numbers::sqrt2); }
double normal_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

// A chi-squared number over its degrees of freedom, by values of equal probability.
constexpr size_t kValues = 12;
using Values = std::array<double, kValues>;
Values values_of_variance(double freedom)
{
	Values values;
	for (size_t i = 0; i < kValues; ++i)
		values[i] = chi_squared_at((static_cast<double>(i) + 0.5) / kValues, freedom) / freedom;
	return values;
}

size_t stretches_with(size_t openings)
{
	return openings >= 2 * kStretches ? kStretches : openings >= 2 * kFewStretches ? kFewStretches : 0;
}

// Spreads of a run's mean over its estimated variance over openings.
struct NextRun {
	double freedom = 1; // of that estimate
	double of_stretches = 0, freedom_of_stretches = 0; // 0: there are none
	Spread another_run;
};

// The mean probability over what is open of a run of so many openings. `decides`: by how alike stretches happen to be,
// returns the probability by the mean's true deviation and the estimate over it.
template <typename Decides> double averaged(const RoundDifference &difference, size_t openings, const Decides &decides)
{
	const auto n = static_cast<double>(openings);
	const double seen = difference.openings_spread.variance * static_cast<double>(difference.openings);
	if (!(seen > 0))
		return 1;
	const double freedom = std::max(1.0, n * difference.left - 1);
	const Values of_truth = values_of_variance(difference.openings_spread.freedom);
	const Values of_estimate = values_of_variance(freedom);
	const size_t stretches = stretches_with(openings);
	const double freedom_of_stretches = stretches > 0 ? static_cast<double>(stretches) - 1 : 0;
	const Values of_stretches =
		stretches > 0 ? values_of_variance(freedom_of_stretches) : Values{}; // as one if there are none
	double sum = 0;
	for (const double ratio : of_stretches) {
		const auto probability = decides(
			NextRun{freedom, ratio, freedom_of_stretches, with_slow_changes(1, freedom, openings, ratio, stretches)});
		for (const double truth : of_truth)
			for (const double estimate : of_estimate)
				sum += probability(std::sqrt(seen / truth / n), std::sqrt(estimate));
	}
	return sum / (kValues * kValues * kValues);
}

} // namespace

std::optional<double> p_of_margin(const RoundDifference &difference, const Margin &margin)
{
	if (!difference.p)
		return std::nullopt;
	const double room = what_is_left(margin, difference.openings) - std::abs(difference.mean);
	const Spread &spread = difference.another_run;
	if (room <= 0)
		return 1;
	return spread.variance > 0 ? t_above(room / std::sqrt(spread.variance), spread.freedom) : 0;
}

double power_to_call_same(const RoundDifference &difference, const Margin &margin, size_t openings)
{
	const double limit = what_is_left(margin, openings);
	if (limit <= 0)
		return 0;
	return averaged(difference, openings, [&](const NextRun &next) {
		const double half = t_within(2 * kSame, next.another_run.freedom) * std::sqrt(next.another_run.variance);
		return [=](double deviation, double estimate) {
			const double room = limit / deviation - half * estimate;
			return room > 0 ? normal_within(room) : 0;
		};
	});
}

double power_to_tell(const RoundDifference &difference, const Margin &margin, size_t openings, double told_below)
{
	return averaged(difference, openings, [&](const NextRun &next) {
		const double half = std::max(
			{t_within(told_below, next.freedom),
			 next.of_stretches > 1 ? t_within(told_below, next.freedom_of_stretches) * std::sqrt(next.of_stretches) : 0,
			 next.another_run.half_width()});
		return [=, limit = margin.limit](double deviation, double estimate) {
			return normal_below(limit / deviation - half * estimate);
		};
	});
}

std::optional<size_t> openings_needed(const RoundDifference &difference, const Margin &margin, double told_below)
{
	if (!difference.p)
		return std::nullopt;
	const auto suffice = [&](size_t openings) {
		return power_to_call_same(difference, margin, openings) >= kPower &&
			   power_to_tell(difference, margin, openings, told_below) >= kPower;
	};
	size_t enough = kMinBlocks;
	while (!suffice(enough))
		if ((enough *= 2) > kMostOpenings)
			return std::nullopt;
	size_t too_few = enough > kMinBlocks ? enough / 2 : kMinBlocks - 1;
	while (enough - too_few > std::max<size_t>(1, enough / 100)) {
		const size_t between = too_few + (enough - too_few) / 2;
		(suffice(between) ? enough : too_few) = between;
	}
	return enough;
}

} // namespace icepath::stats
