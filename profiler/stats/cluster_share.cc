// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/cluster_share.h"

#include <cmath>

#include "profiler/stats/block_interval.h"

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

std::optional<Spread> spread_of_share(const std::vector<Counted> &all)
{
	double count = 0, of = 0;
	std::vector<Counted> blocks;
	std::vector<uint32_t> numbers;
	for (const Counted &block : all) {
		if (block.of == 0)
			continue;
		count += static_cast<double>(block.count);
		of += static_cast<double>(block.of);
		blocks.push_back(block);
		numbers.push_back(block.cluster);
	}
	const Clusters clusters = numbered(numbers, numbers.size());
	if (clusters.count < kMinBlocks || count == 0 || count == of)
		return std::nullopt;
	const Sums by_cluster(blocks, clusters);
	const Clusters stretches = stretches_of(clusters);
	const double of_stretches = stretches.count > 0 ? Sums(blocks, stretches).variance(count / of, of) : 0;
	return with_slow_changes(by_cluster.variance(count / of, of), by_cluster.effective() - 1, clusters.count,
							 of_stretches, stretches.count);
}

Share share_of(const std::vector<Counted> &blocks, double outside)
{
	Share share;
	for (const Counted &block : blocks) {
		share.count += block.count;
		share.of += block.of;
	}
	const auto spread = spread_of_share(blocks);
	if (!spread)
		return share;
	const double value = share.value(), logit = std::log(value / (1 - value));
	const double half = spread->half_width(outside) / (value * (1 - value));
	share.interval = Interval{1 / (1 + std::exp(half - logit)), 1 / (1 + std::exp(-half - logit))};
	return share;
}

} // namespace icepath::stats
