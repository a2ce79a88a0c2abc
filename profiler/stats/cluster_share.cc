// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/cluster_share.h"

#include <cmath>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {
namespace {

struct Sums {
	std::vector<double> count, of; // by cluster

	Sums(const std::vector<Counted> &blocks, const Clusters &clusters) : count(clusters.count), of(clusters.count)
	{
		for (size_t i = 0; i < blocks.size(); ++i) {
			count[clusters.of_block[i]] += static_cast<double>(blocks[i].count);
			of[clusters.of_block[i]] += static_cast<double>(blocks[i].of);
		}
	}

	double variance(double share, double all) const
	{
		double squares = 0;
		for (size_t i = 0; i < of.size(); ++i)
			squares += (count[i] - share * of[i]) * (count[i] - share * of[i]);
		const double clusters = static_cast<double>(of.size());
		return squares / (all * all) * clusters / (clusters - 1);
	}

	double effective() const
	{
		double sum = 0, squares = 0;
		for (const double one : of) {
			sum += one;
			squares += one * one;
		}
		return sum * sum / squares;
	}
};

} // namespace

Share share_of(const std::vector<Counted> &all)
{
	Share share;
	std::vector<Counted> blocks;
	std::vector<uint32_t> numbers;
	for (const Counted &block : all) {
		if (block.of == 0)
			continue;
		share.count += block.count;
		share.of += block.of;
		blocks.push_back(block);
		numbers.push_back(block.cluster);
	}
	const Clusters clusters = numbered(numbers, numbers.size());
	if (clusters.count < kMinBlocks || share.count == 0 || share.count == share.of)
		return share;
	const double value = share.value(), messages = static_cast<double>(share.of);
	const Sums by_cluster(blocks, clusters);
	const Clusters stretches = stretches_of(clusters);
	const double of_stretches = stretches.count > 0 ? Sums(blocks, stretches).variance(value, messages) : 0;
	const Spread spread = with_slow_changes(by_cluster.variance(value, messages), by_cluster.effective() - 1,
											clusters.count, of_stretches, stretches.count);
	const double logit = std::log(value / (1 - value)), half = spread.half_width() / (value * (1 - value));
	share.interval = Interval{1 / (1 + std::exp(half - logit)), 1 / (1 + std::exp(-half - logit))};
	return share;
}

} // namespace icepath::stats
