// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/slow_changes.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

// s, for r as in the header.
double own_variance(double r, size_t stretches)
{
	if (stretches < kStretches)
		return std::max(0.0, r - 1);
	constexpr double kLeast = 0.01; // below, it hardly depends on r
	const double d = static_cast<double>(stretches) - 1, x = d * std::max(r, kLeast);
	return x / chi_squared_at(chi_squared_below(x, d) * 2 / 3, d) - 1;
}

} // namespace

Clusters stretches_of(const Clusters &clusters)
{
	Clusters stretches;
	stretches.count = clusters.count >= 2 * kStretches      ? kStretches
					  : clusters.count >= 2 * kFewStretches ? kFewStretches
															: 0;
	for (size_t block = 0; stretches.count > 0 && block < clusters.of_block.size(); ++block)
		stretches.of_block.push_back(clusters.of_block[block] * stretches.count / clusters.count);
	return stretches;
}

double Spread::half_width(double outside) const { return t_within(outside, freedom) * std::sqrt(variance); }

Spread with_slow_changes(double of_clusters, double freedom, size_t clusters, double of_stretches, size_t stretches)
{
	Spread spread{of_clusters, std::max(1.0, freedom)};
	if (stretches == 0 || !(of_clusters > 0))
		return spread;
	const auto n = static_cast<double>(clusters), k = static_cast<double>(stretches);
	const double slow = of_clusters * own_variance(of_stretches / of_clusters, stretches) * k * n / (n - k);
	spread.variance += slow;
	spread.freedom = std::max(1.0, spread.variance * spread.variance /
									   (of_clusters * of_clusters / spread.freedom + slow * slow / (k - 1)));
	return spread;
}

} // namespace icepath::stats
