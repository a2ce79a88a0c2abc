// SPDX-License-Identifier: Apache-2.0
#pragma once
// The redrawn runs that intervals of means rest on (block_ratio.h, block_difference.h): of whole clusters, and of
// stretches of them for slow changes.
#include <functional>
#include <vector>

#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

class BlockDraws {
public:
	using Statistic = std::function<double(const Weights &)>;

	BlockDraws() = default; // no draws
	// `usable`: whether a draw has what the statistics need. There are no draws with fewer than kMinBlocks clusters.
	BlockDraws(Clusters clusters, const std::function<bool(const Weights &)> &usable);

	bool enough() const { return of_clusters_.size() >= 2; }

	// Half of the statistic's 95 % interval. `evidence`: what each block adds to it, for Kish's effective number of
	// clusters, the sum squared over the sum of squares: how many equal ones would carry as much evidence.
	double half_width(const Statistic &statistic, const std::vector<double> &evidence) const;

private:
	double effective_clusters(const std::vector<double> &evidence) const;

	Clusters clusters_, stretches_;
	std::vector<Weights> of_clusters_, of_stretches_; // by cluster, of which there are far fewer than blocks
};

} // namespace icepath::stats
