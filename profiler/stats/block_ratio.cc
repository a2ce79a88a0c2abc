// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/far_tail.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {
RedrawnMeans::RedrawnMeans(std::vector<double> weights, const std::vector<uint32_t> &clusters)
	: weights_(std::move(weights)), clusters_(numbered(clusters, weights_.size())),
	  all_(std::reduce(weights_.begin(), weights_.end()))
{
	if (clusters_.count < kMinBlocks)
		return;
	draws_ = redrawn(clusters_);
	stretches_ = stretches_of(clusters_);
	if (stretches_.count > 0)
		draws_of_stretches_ = redrawn(stretches_);
}

std::vector<Weights> RedrawnMeans::redrawn(const Clusters &clusters) const
{
	std::vector<Weights> draws;
	Redraw redraw(clusters);
	for (unsigned replicate = 0; replicate < kReplicates; ++replicate)
		if (const Weights &drawn = redraw.next(); sum_of(weights_, drawn) > 0)
			draws.push_back(drawn);
	return draws;
}

double RedrawnMeans::variance(const std::vector<double> &sums, const std::vector<Weights> &draws, size_t clusters) const
{
	return variance_over(draws, clusters,
						 [&](const Weights &drawn) { return sum_of(sums, drawn) / sum_of(weights_, drawn); });
}

double RedrawnMeans::effective_clusters(const std::vector<double> &sums) const
{
	std::vector<double> of_cluster(clusters_.count, 0);
	for (size_t b = 0; b < sums.size(); ++b)
		of_cluster[clusters_.of_block[b]] += sums[b];
	const double sum = std::reduce(of_cluster.begin(), of_cluster.end());
	return sum * sum / std::inner_product(of_cluster.begin(), of_cluster.end(), of_cluster.begin(), 0.0);
}

double RedrawnMeans::mean(const std::vector<double> &sums) const
{
	return all_ > 0 ? std::reduce(sums.begin(), sums.end()) / all_ : 0;
}

std::optional<Interval> RedrawnMeans::interval(const std::vector<double> &sums) const
{
	const auto having = static_cast<size_t>(std::ranges::count_if(sums, [](double sum) { return sum > 0; }));
	if (having < kBlocksBeyond || draws_.size() < 2)
		return std::nullopt;
	const Spread spread =
		with_slow_changes(variance(sums, draws_, clusters_.count), effective_clusters(sums) - 1, clusters_.count,
						  variance(sums, draws_of_stretches_, stretches_.count), stretches_.count);
	const double measured = mean(sums), half = spread.half_width() / measured;
	return Interval{measured * std::exp(-half), measured * std::exp(half)};
}

} // namespace icepath::stats
