// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/paired_blocks.h"

#include <algorithm>
#include <numeric>

#include "profiler/stats/redrawn_run.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {
namespace {

// A linear estimate and each pair's push: how far that pair, in the order of pairs, moves it from what the others say.
// The squares of the pushes add up to its variance; the pushes of a cluster's pairs are summed first (a sandwich
// estimator: Liang and Zeger, Biometrika 73, 1986).
struct Estimate {
	double value = 0;
	std::vector<double> pushes;
};

// The drift from one round to the next is half the difference between the two orders.
Estimate of_both_orders(const std::vector<BlockPair> &pairs, const Moments &last, const Moments &first)
{
	Estimate estimate{(last.mean + first.mean) / 2, {}};
	for (const BlockPair &pair : pairs) {
		const Moments &order = pair.treated_last ? last : first;
		estimate.pushes.push_back((pair.treated - pair.untreated - order.mean) / order.count / 2);
	}
	return estimate;
}

// With one order, the drift is the slope of the pairs' levels over their rounds.
Estimate of_one_order(const std::vector<BlockPair> &pairs, const Moments &differences)
{
	Moments rounds, levels;
	double products = 0;
	const auto level_of = [](const BlockPair &pair) { return (pair.untreated + pair.treated) / 2; };
	for (const BlockPair &pair : pairs) {
		const double before = pair.at - rounds.mean;
		rounds.add(pair.at);
		levels.add(level_of(pair));
		products += before * (level_of(pair) - levels.mean);
	}
	const double slope = rounds.squares > 0 ? products / rounds.squares : 0, sign = pairs[0].treated_last ? -1 : 1;
	Estimate estimate{differences.mean + sign * slope, {}};
	for (const BlockPair &pair : pairs) {
		const double away = pair.at - rounds.mean, residual = level_of(pair) - levels.mean - slope * away;
		const double of_slope = rounds.squares > 0 ? away * residual / rounds.squares : 0;
		estimate.pushes.push_back((pair.treated - pair.untreated - differences.mean) / differences.count +
								  sign * of_slope);
	}
	return estimate;
}

double squared_pushes(const Estimate &estimate, const Clusters &clusters)
{
	std::vector<double> sums(clusters.count, 0);
	for (size_t i = 0; i < estimate.pushes.size(); ++i)
		sums[clusters.of_block[i]] += estimate.pushes[i];
	return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
}

double half_width(const Estimate &estimate, const Clusters &clusters)
{
	const auto all = static_cast<double>(clusters.count);
	const Clusters stretches = stretches_of(clusters);
	const auto few = static_cast<double>(stretches.count);
	const double of_stretches = stretches.count ? squared_pushes(estimate, stretches) * few / (few - 1) : 0;
	return with_slow_changes(squared_pushes(estimate, clusters) * all / (all - 2), all - 2, clusters.count,
							 of_stretches, stretches.count)
		.half_width();
}

} // namespace

std::vector<BlockPair> neighbours(std::vector<BlockValue> blocks)
{
	std::stable_sort(blocks.begin(), blocks.end(),
					 [](const BlockValue &a, const BlockValue &b) { return a.round < b.round; });
	std::vector<BlockPair> pairs;
	for (size_t i = 0; i + 1 < blocks.size(); ++i) {
		const BlockValue &a = blocks[i], &b = blocks[i + 1];
		if (a.treated == b.treated || b.round - a.round > 1 || a.opening != b.opening)
			continue;
		pairs.push_back(
			{a.treated ? b.value : a.value, a.treated ? a.value : b.value, b.treated, a.round + 0.5, a.opening});
		++i;
	}
	return pairs;
}

std::optional<Effect> paired_difference(const std::vector<BlockPair> &pairs, Over over)
{
	if (pairs.empty())
		return std::nullopt;
	Moments last, first;
	std::vector<uint32_t> openings;
	for (const BlockPair &pair : pairs) {
		(pair.treated_last ? last : first).add(pair.treated - pair.untreated);
		openings.push_back(pair.opening);
	}
	const Estimate estimate = last.count > 0 && first.count > 0 ? of_both_orders(pairs, last, first)
																: of_one_order(pairs, last.count > 0 ? last : first);
	Effect effect{estimate.value, pairs.size(), std::nullopt};
	const Clusters clusters = numbered(over == Over::Openings ? openings : std::vector<uint32_t>(), pairs.size());
	if (clusters.count < kMinBlocks)
		return effect;
	const double half = half_width(estimate, clusters);
	effect.interval = Interval{effect.mean - half, effect.mean + half};
	return effect;
}

} // namespace icepath::stats
