// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/round_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/distributions.h"
#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {
namespace {

// Of the rounds that have both cells, in the order of rounds, with the opening of either cell.
struct SharedRounds {
	std::vector<double> differences;
	std::vector<double> a, b; // values, or their logarithms
	std::vector<uint32_t> openings_a, openings_b;
};

SharedRounds shared_rounds(const std::vector<BlockValue> &a, const std::vector<BlockValue> &b, Scale scale)
{
	const auto usable = [&](const BlockValue &block) {
		return !block.treated && (scale == Scale::Plain || block.value > 0);
	};
	const auto scaled = [&](double value) { return scale == Scale::Logs ? std::log(value) : value; };
	std::map<uint32_t, const BlockValue *> of_a, of_b;
	for (const BlockValue &block : a)
		if (usable(block))
			of_a[block.round] = &block;
	for (const BlockValue &block : b)
		if (usable(block))
			of_b[block.round] = &block;
	SharedRounds shared;
	for (const auto &[round, one] : of_a) {
		const auto other = of_b.find(round);
		if (other == of_b.end())
			continue;
		shared.differences.push_back(scale == Scale::Logs ? std::log(one->value / other->second->value)
														  : one->value - other->second->value);
		shared.a.push_back(scaled(one->value));
		shared.b.push_back(scaled(other->second->value));
		shared.openings_a.push_back(one->opening);
		shared.openings_b.push_back(other->second->opening);
	}
	return shared;
}

struct TrimmedMean {
	double mean = 0;
	double left = 1; // share of the values that is left
	std::vector<double> pushes; // of each value, in their order
};

// `cut`: number of values at each end; twice that is less than all.
TrimmedMean trimmed_mean(const std::vector<double> &values, size_t cut)
{
	std::vector<double> sorted = values;
	std::ranges::sort(sorted);
	const auto begin = sorted.begin() + static_cast<ptrdiff_t>(cut), end = sorted.end() - static_cast<ptrdiff_t>(cut);
	const auto count = static_cast<double>(values.size()), left = static_cast<double>(end - begin);
	TrimmedMean result{std::reduce(begin, end) / left, left / count, {}};
	double winsorized = 0; // mean
	for (const double value : values)
		winsorized += std::clamp(value, *begin, *(end - 1)) / count;
	for (const double value : values)
		result.pushes.push_back((std::clamp(value, *begin, *(end - 1)) - winsorized) / left);
	return result;
}

// The variance of the mean if only clusters are independent. `left`: the share of their number that counts.
double variance_over(const std::vector<double> &pushes, const Clusters &clusters, double left)
{
	const double count = static_cast<double>(clusters.count) * left;
	if (count <= 1)
		return 0;
	std::vector<double> sums(clusters.count, 0);
	for (size_t i = 0; i < pushes.size(); ++i)
		sums[clusters.of_block[i]] += pushes[i];
	return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0) * count / (count - 1);
}

// Rounds that share the opening of both cells.
Clusters both(const Clusters &a, const Clusters &b)
{
	std::vector<uint32_t> numbers;
	for (size_t i = 0; i < a.of_block.size(); ++i)
		numbers.push_back(static_cast<uint32_t>(a.of_block[i] * b.count + b.of_block[i]));
	return numbered(numbers, numbers.size());
}

double probability_of(double mean, const Spread &spread)
{
	if (spread.variance > 0)
		return t_beyond(std::abs(mean) / std::sqrt(spread.variance), spread.freedom);
	return mean == 0 ? 1 : 0;
}

// Whether what a trimmed mean leaves has a value.
bool is_known(const std::vector<double> &values, size_t cut)
{
	const auto is_infinite = [](double value) { return std::isinf(value); };
	const auto below = [](double value) { return std::isinf(value) && value < 0; };
	const auto count = [&](auto which) { return static_cast<size_t>(std::ranges::count_if(values, which)); };
	return std::ranges::none_of(values, [](double value) { return std::isnan(value); }) && count(below) <= cut &&
		   count(is_infinite) - count(below) <= cut;
}

struct Spreads {
	Spread openings, stretches; // of the mean in this run; stretches: no less than openings
	Spread another_run;
};

Spreads spreads_of(const TrimmedMean &mean, const Clusters &a, const Clusters &b)
{
	const auto over = [&](const Clusters &clusters, double left) { return variance_over(mean.pushes, clusters, left); };
	const Clusters &fewer = a.count < b.count ? a : b;
	const double of_a = over(a, mean.left), of_b = over(b, mean.left);
	Spreads spreads;
	spreads.openings.variance = std::max({of_a, of_b, of_a + of_b - over(both(a, b), mean.left)});
	spreads.openings.freedom = std::max(1.0, static_cast<double>(fewer.count) * mean.left - 1);
	const Clusters stretches = stretches_of(fewer);
	const double of_stretches = over(stretches, 1);
	spreads.stretches = spreads.openings;
	if (of_stretches > spreads.openings.variance)
		spreads.stretches = {of_stretches, static_cast<double>(stretches.count) - 1};
	spreads.another_run = with_slow_changes(spreads.openings.variance, spreads.openings.freedom, fewer.count,
											of_stretches, stretches.count);
	return spreads;
}

} // namespace

bool RoundDifference::is_known() const { return std::isfinite(mean); }

Interval RoundDifference::interval() const
{
	const double half = another_run.half_width();
	return {mean - half, mean + half};
}

std::optional<RoundDifference> difference_within_rounds(const std::vector<BlockValue> &a,
														const std::vector<BlockValue> &b, Scale scale, Trim trim)
{
	const SharedRounds shared = shared_rounds(a, b, scale);
	const size_t rounds = shared.differences.size();
	if (rounds < kMinBlocks)
		return std::nullopt;
	Clusters of_a = numbered(shared.openings_a, rounds), of_b = numbered(shared.openings_b, rounds);
	RoundDifference result;
	result.rounds = rounds;
	result.openings = std::min(of_a.count, of_b.count);
	const bool over_openings = result.openings >= kMinBlocks;
	if (!over_openings)
		of_a = of_b = numbered({}, rounds);
	const bool trims = trim == Trim::Fifths && std::min(of_a.count, of_b.count) >= kTrimmedFrom;
	const size_t cut = trims ? static_cast<size_t>(kTrimmed * static_cast<double>(rounds)) : 0;
	if (!is_known(shared.differences, cut)) {
		result.mean = std::numeric_limits<double>::quiet_NaN();
		return result;
	}
	const TrimmedMean mean = trimmed_mean(shared.differences, cut);
	const Spreads spreads = spreads_of(mean, of_a, of_b);
	const auto of_side = [&](const std::vector<double> &values) {
		const double value = trimmed_mean(values, cut).mean;
		return scale == Scale::Logs ? std::exp(value) : value;
	};
	result.mean = mean.mean;
	result.a = of_side(shared.a);
	result.b = of_side(shared.b);
	result.left = mean.left;
	result.openings_spread = spreads.openings;
	result.another_run = spreads.another_run;
	if (over_openings)
		result.p = std::max(probability_of(mean.mean, spreads.openings), probability_of(mean.mean, spreads.stretches));
	return result;
}

} // namespace icepath::stats
