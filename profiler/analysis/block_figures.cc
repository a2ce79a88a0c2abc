// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/block_figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "profiler/stats/percentile.h"
#include "profiler/stats/round_ratio.h"

namespace icepath::analysis {
namespace {

stats::BlockValue of_block(const model::Block &block, double value)
{
	return {block.window->round, false, value, block.opening};
}

double cpu_time_ns(const model::Block &block)
{
	uint64_t ns = block.daemon_cpu_ns.value_or(0);
	for (const model::BlockSide &side : block.sides)
		ns += side.usage.user_ns + side.usage.system_ns;
	return static_cast<double>(ns);
}

} // namespace

void BlockFigures::add(const SeenBlock &unprobed)
{
	const model::Block &block = unprobed.block;
	// What was on its way then isn't lost, and nobody knows how long it would have taken.
	if (unprobed.failed() || block.end == model::BlockEnd::Interrupted)
		return;
	const MessageCounts &counts = unprobed.messages.counts;
	std::vector<uint64_t> sorted = *unprobed.latencies;
	std::ranges::sort(sorted);
	const uint64_t all = sorted.size() + counts.lost;
	const auto percentile = [&](stats::Percentile p) {
		const uint64_t rank = stats::rank(all, p);
		return of_block(block, rank > sorted.size() ? std::numeric_limits<double>::infinity()
													: static_cast<double>(sorted[rank - 1]));
	};
	if (stats::supported(all, stats::kP50)) {
		mean_ns.push_back(of_block(block, stats::trimmed_geometric_mean(sorted, counts.lost)));
		p50_ns.push_back(percentile(stats::kP50));
	}
	if (stats::supported(all, stats::kP99))
		p99_ns.push_back(percentile(stats::kP99));
	if (unprobed.sent > 0)
		cpu_ns.push_back(of_block(block, cpu_time_ns(block) / static_cast<double>(unprobed.sent)));
	if (counts.sent > 0)
		lost.push_back(of_block(block, static_cast<double>(counts.lost) / static_cast<double>(counts.sent)));
}

void BlockFigures::add_modes(const BlocksOfMessages &unprobed, const CellModes &modes)
{
	const uint64_t fastest_to_ns = modes.all.size() < 2 ? UINT64_MAX : modes.all.front().range.to_ns;
	for (size_t i = 0; i < unprobed.latency.size(); ++i) {
		const std::vector<uint64_t> &latencies = *unprobed.latency[i];
		if (latencies.empty())
			continue;
		const auto beyond = std::ranges::count_if(latencies, [&](uint64_t ns) { return ns > fastest_to_ns; });
		slow.push_back({unprobed.round[i], false, static_cast<double>(beyond) / static_cast<double>(latencies.size()),
						unprobed.opening[i]});
	}
}

} // namespace icepath::analysis
