// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/paired_blocks.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

struct Moments {
	double count = 0, mean = 0, squares = 0; // squares: sum of (value - mean)^2

	void add(double value)
	{
		// Welford's update.
		const double away = value - mean;
		mean += away / ++count;
		squares += away * (value - mean);
	}
};

// An estimate and its variance; the variance counts for nothing without two pairs more than were needed.
struct Estimate {
	double value = 0, variance = 0;
};

// The drift from one round to the next is half of what the two orders differ by.
Estimate of_both_orders(const Moments &last, const Moments &first)
{
	const double residual = (last.squares + first.squares) / (last.count + first.count - 2);
	return {(last.mean + first.mean) / 2, residual * (1 / last.count + 1 / first.count) / 4};
}

// Here it is the slope of the pairs' levels over their rounds.
Estimate of_one_order(const std::vector<BlockPair> &pairs, const Moments &differences)
{
	Moments rounds, levels;
	double products = 0;
	for (const BlockPair &pair : pairs) {
		const double level = (pair.untreated + pair.treated) / 2, before = pair.at - rounds.mean;
		rounds.add(pair.at);
		levels.add(level);
		products += before * (level - levels.mean);
	}
	const double slope = rounds.squares > 0 ? products / rounds.squares : 0;
	const double residual = std::max(0.0, levels.squares - slope * products) / (differences.count - 2);
	return {differences.mean + (pairs[0].treated_last ? -slope : slope),
			differences.squares / (differences.count - 1) / differences.count + residual / rounds.squares};
}

std::optional<Effect> without_drift(const std::vector<BlockPair> &pairs)
{
	if (pairs.empty())
		return std::nullopt;
	Moments last, first;
	for (const BlockPair &pair : pairs)
		(pair.treated_last ? last : first).add(pair.treated - pair.untreated);
	const Estimate estimate = last.count > 0 && first.count > 0 ? of_both_orders(last, first)
																: of_one_order(pairs, last.count > 0 ? last : first);
	Effect effect{estimate.value, pairs.size(), std::nullopt};
	if (pairs.size() < kMinBlocks)
		return effect;
	const double half = t_975(static_cast<double>(pairs.size()) - 2) * std::sqrt(estimate.variance);
	effect.interval = Interval{effect.mean - half, effect.mean + half};
	return effect;
}

} // namespace

std::vector<BlockPair> neighbours(std::vector<BlockValue> blocks)
{
	std::stable_sort(blocks.begin(), blocks.end(),
					 [](const BlockValue &a, const BlockValue &b) { return a.round < b.round; });
	std::vector<BlockPair> pairs;
	for (size_t i = 0; i + 1 < blocks.size(); ++i) {
		const BlockValue &a = blocks[i], &b = blocks[i + 1];
		if (a.treated == b.treated || b.round - a.round > 1)
			continue;
		pairs.push_back({a.treated ? b.value : a.value, a.treated ? a.value : b.value, b.treated, a.round + 0.5});
		++i;
	}
	return pairs;
}

std::optional<Effect> paired_difference(const std::vector<BlockPair> &pairs) { return without_drift(pairs); }

std::optional<Effect> paired_ratio(const std::vector<BlockPair> &pairs)
{
	std::vector<BlockPair> logs;
	for (const BlockPair &pair : pairs)
		if (pair.untreated > 0 && pair.treated > 0)
			logs.push_back({std::log(pair.untreated), std::log(pair.treated), pair.treated_last, pair.at});
	std::optional<Effect> effect = without_drift(logs);
	if (!effect)
		return effect;
	effect->mean = std::exp(effect->mean);
	if (effect->interval)
		effect->interval = Interval{std::exp(effect->interval->low), std::exp(effect->interval->high)};
	return effect;
}

} // namespace icepath::stats
