// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/paired_blocks.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

std::optional<Effect> mean_with_interval(const std::vector<double> &values)
{
	if (values.empty())
		return std::nullopt;
	const double n = static_cast<double>(values.size());
	Effect effect;
	effect.pairs = values.size();
	for (const double value : values)
		effect.mean += value / n;
	if (values.size() < kMinBlocks)
		return effect;
	double squares = 0;
	for (const double value : values)
		squares += (value - effect.mean) * (value - effect.mean);
	const double half = t_975(n - 1) * std::sqrt(squares / (n - 1) / n);
	effect.interval = Interval{effect.mean - half, effect.mean + half};
	return effect;
}

} // namespace

std::vector<std::pair<double, double>> neighbours(std::vector<BlockValue> blocks)
{
	std::stable_sort(blocks.begin(), blocks.end(),
					 [](const BlockValue &a, const BlockValue &b) { return a.round < b.round; });
	std::vector<std::pair<double, double>> pairs;
	for (size_t i = 0; i + 1 < blocks.size(); ++i) {
		const BlockValue &a = blocks[i], &b = blocks[i + 1];
		if (a.treated == b.treated || b.round - a.round > 1)
			continue;
		pairs.emplace_back(a.treated ? b.value : a.value, a.treated ? a.value : b.value);
		++i;
	}
	return pairs;
}

std::optional<Effect> paired_difference(const std::vector<std::pair<double, double>> &pairs)
{
	std::vector<double> differences;
	for (const auto &[untreated, treated] : pairs)
		differences.push_back(treated - untreated);
	return mean_with_interval(differences);
}

std::optional<Effect> paired_ratio(const std::vector<std::pair<double, double>> &pairs)
{
	std::vector<double> logs;
	for (const auto &[untreated, treated] : pairs)
		if (untreated > 0 && treated > 0)
			logs.push_back(std::log(treated / untreated));
	std::optional<Effect> effect = mean_with_interval(logs);
	if (!effect)
		return effect;
	effect->mean = std::exp(effect->mean);
	if (effect->interval)
		effect->interval = Interval{std::exp(effect->interval->low), std::exp(effect->interval->high)};
	return effect;
}

} // namespace icepath::stats
