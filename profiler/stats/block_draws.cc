// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_draws.h"

#include <numeric>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {
namespace {

std::vector<Weights> draws_of(const Clusters &clusters, const std::function<bool(const Weights &)> &usable)
{
	std::vector<Weights> draws;
	if (clusters.count == 0)
		return draws;
	Redraw redraw(clusters);
	for (unsigned replicate = 0; replicate < kReplicates; ++replicate)
		if (usable(redraw.next()))
			draws.push_back(redraw.by_cluster());
	return draws;
}

double variance_of(const BlockDraws::Statistic &statistic, const std::vector<Weights> &draws, const Clusters &clusters)
{
	Weights of_blocks(clusters.of_block.size());
	return variance_over(draws, clusters.count, [&](const Weights &drawn) {
		for (size_t block = 0; block < of_blocks.size(); ++block)
			of_blocks[block] = drawn[clusters.of_block[block]];
		return statistic(of_blocks);
	});
}

} // namespace

BlockDraws::BlockDraws(Clusters clusters, const std::function<bool(const Weights &)> &usable)
	: clusters_(std::move(clusters))
{
	if (clusters_.count < kMinBlocks)
		return;
	stretches_ = stretches_of(clusters_);
	of_clusters_ = draws_of(clusters_, usable);
	of_stretches_ = draws_of(stretches_, usable);
}

double BlockDraws::effective_clusters(const std::vector<double> &evidence) const
{
	std::vector<double> of_cluster(clusters_.count, 0);
	for (size_t block = 0; block < evidence.size(); ++block)
		of_cluster[clusters_.of_block[block]] += evidence[block];
	const double sum = std::reduce(of_cluster.begin(), of_cluster.end());
	return sum * sum / std::inner_product(of_cluster.begin(), of_cluster.end(), of_cluster.begin(), 0.0);
}

double BlockDraws::half_width(const Statistic &statistic, const std::vector<double> &evidence) const
{
	return with_slow_changes(variance_of(statistic, of_clusters_, clusters_), effective_clusters(evidence) - 1,
							 clusters_.count, variance_of(statistic, of_stretches_, stretches_), stretches_.count)
		.half_width();
}

} // namespace icepath::stats
