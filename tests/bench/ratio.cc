// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/ratio.h"

#include <fmt/format.h>

#include <cmath>

namespace icepath::bench {

std::vector<stats::BlockPair> without_order(const std::vector<std::pair<double, double>> &pairs)
{
	std::vector<stats::BlockPair> all;
	for (const auto &[untreated, treated] : pairs)
		all.push_back({untreated, treated, all.size() % 2 == 0, static_cast<double>(all.size())});
	return all;
}

std::optional<stats::Effect> paired_ratio(const std::vector<stats::BlockPair> &pairs)
{
	std::vector<stats::BlockPair> logs;
	for (const stats::BlockPair &pair : pairs)
		if (pair.untreated > 0 && pair.treated > 0)
			logs.push_back(
				{std::log(pair.untreated), std::log(pair.treated), pair.treated_last, pair.at, pair.opening});
	std::optional<stats::Effect> effect = stats::paired_difference(logs);
	if (!effect)
		return effect;
	effect->mean = std::exp(effect->mean);
	if (effect->interval)
		effect->interval = stats::Interval{std::exp(effect->interval->low), std::exp(effect->interval->high)};
	return effect;
}

nlohmann::ordered_json as_json(const stats::Effect &ratio)
{
	nlohmann::ordered_json json = {{"ratio", ratio.mean}, {"pairs", ratio.pairs}, {"ci95", nullptr}};
	if (ratio.interval)
		json["ci95"] = {ratio.interval->low, ratio.interval->high};
	return json;
}

std::string as_text(const stats::Effect &ratio)
{
	return ratio.interval
			   ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.mean, ratio.interval->low, ratio.interval->high)
			   : fmt::format("{:.3f}", ratio.mean);
}

} // namespace icepath::bench
