// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/slow_changes.h"

#include <algorithm>
#include <cmath>

#include "profiler/stats/distributions.h"

namespace icepath::stats {

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

double Spread::half_width() const { return t_975(freedom) * std::sqrt(variance); }

Spread with_slow_changes(double of_clusters, double freedom, size_t clusters, double of_stretches, size_t stretches)
{
	Spread spread{of_clusters, std::max(1.0, freedom)};
	if (stretches == 0 || of_stretches <= of_clusters)
		return spread;
	const auto n = static_cast<double>(clusters), k = static_cast<double>(stretches);
	const double slow = k * (of_stretches - of_clusters) * n / (n - k);
	spread.variance += slow;
	spread.freedom = std::max(1.0, spread.variance * spread.variance /
									   (of_clusters * of_clusters / spread.freedom + slow * slow / (k - 1)));
	return spread;
}

} // namespace icepath::stats
