// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/stats/far_tail.h"

namespace icepath::stats {

RedrawnMeans::RedrawnMeans(std::vector<double> weights, const std::vector<uint32_t> &clusters)
	: weights_(std::move(weights)), all_(std::reduce(weights_.begin(), weights_.end())),
	  draws_(numbered(clusters, weights_.size()), [this](const Weights &drawn) { return sum_of(weights_, drawn) > 0; })
{}

double RedrawnMeans::mean(const std::vector<double> &sums) const
{
	return all_ > 0 ? std::reduce(sums.begin(), sums.end()) / all_ : 0;
}

std::optional<Interval> RedrawnMeans::interval(const std::vector<double> &sums) const
{
	const auto having = static_cast<size_t>(std::ranges::count_if(sums, [](double sum) { return sum > 0; }));
	if (having < kBlocksBeyond || !draws_.enough())
		return std::nullopt;
	const double measured = mean(sums);
	const double half =
		draws_.half_width([&](const Weights &drawn) { return sum_of(sums, drawn) / sum_of(weights_, drawn); }, sums) /
		measured;
	return Interval{measured * std::exp(-half), measured * std::exp(half)};
}

} // namespace icepath::stats
