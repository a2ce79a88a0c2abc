// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/observer_effect.h"

#include <algorithm>
#include <numeric>

#include "profiler/stats/percentile.h"
#include "profiler/stats/round_ratio.h"

namespace icepath::analysis {

std::optional<double> ObservedBlocks::add(const model::Block &block, std::vector<uint64_t> latencies)
{
	if (!stats::supported(latencies.size(), stats::kP50))
		return std::nullopt;
	std::ranges::sort(latencies);
	const auto of_block = [&](double value) {
		return stats::BlockValue{block.window->round, block.window->probed, value, block.opening};
	};
	const auto percentile = [&](stats::Percentile p) {
		return of_block(static_cast<double>(stats::percentile(latencies, p)));
	};
	p50_.push_back(percentile(stats::kP50));
	mean_.push_back(
		of_block(std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(latencies.size())));
	compared_.push_back(of_block(stats::trimmed_geometric_mean(latencies)));
	if (stats::supported(latencies.size(), stats::kP99))
		p99_.push_back(percentile(stats::kP99));
	return p50_.back().value;
}

ObserverEffect ObservedBlocks::effect(stats::Over over) const
{
	const auto of = [over](const std::vector<stats::BlockValue> &blocks) {
		return stats::paired_difference(stats::neighbours(blocks), over);
	};
	return {of(p50_), of(mean_), of(p99_)};
}

} // namespace icepath::analysis
