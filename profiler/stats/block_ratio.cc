// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/far_tail.h"
#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

double sum_of(const std::vector<double> &values, const Weights &drawn)
{
	return std::inner_product(values.begin(), values.end(), drawn.begin(), 0.0);
}

} // namespace

RedrawnMeans::RedrawnMeans(std::vector<double> weights, const std::vector<uint32_t> &clusters)
	: weights_(std::move(weights)), clusters_(numbered(clusters, weights_.size())),
	  all_(std::reduce(weights_.begin(), weights_.end()))
{
	if (clusters_.count < kMinBlocks)
		return;
	Redraw redraw(clusters_);
	for (unsigned replicate = 0; replicate < kReplicates; ++replicate)
		if (const Weights &drawn = redraw.next(); sum_of(weights_, drawn) > 0)
			draws_.push_back(drawn);
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
	double centre = 0, squares = 0, seen = 0;
	for (const Weights &drawn : draws_) {
		// Welford's update.
		const double redrawn = sum_of(sums, drawn) / sum_of(weights_, drawn), away = redrawn - centre;
		centre += away / ++seen;
		squares += away * (redrawn - centre);
	}
	const double measured = mean(sums), clusters = static_cast<double>(clusters_.count);
	const double deviation = std::sqrt(squares / (seen - 1) * clusters / (clusters - 1));
	const double half = t_975(std::max(1.0, effective_clusters(sums) - 1)) * deviation / measured;
	return Interval{measured * std::exp(-half), measured * std::exp(half)};
}

} // namespace icepath::stats
