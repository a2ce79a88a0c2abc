// SPDX-License-Identifier: Apache-2.0
#pragma once
// The difference of two means over a run's blocks, such as of two cells, or of the slowest messages and typical ones:
//
//     d = sum of A's blocks / their weights - sum of B's blocks / their weights
//
// Blocks of both that share a cluster are drawn together, so what the machine does to both at once isn't taken for a
// difference. With the standard deviation s of the redrawn differences the interval is
//
//     d ± t(0.975, max(1, K-1)) · s · sqrt(C / (C-1))
//
// widened by slow changes (slow_changes.h), for C clusters of which K are effective, as in block_ratio.h. The share of
// a part in the whole difference is a ratio of two differences. Its interval is that of (part - share · whole) / whole
// (the delta method): a ratio of redrawn differences has no variance where the whole one may be 0.
//
// A sum that fewer than kBlocksBeyond blocks of A, and of B, have has no interval: it was met by luck.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/block_draws.h"
#include "profiler/stats/interval.h"

namespace icepath::stats {

// The blocks that a mean is over. `clusters`: numbers that rise with time and mean the same in both means.
struct WeightedBlocks {
	std::vector<double> weights;
	std::vector<uint32_t> clusters; // as many
};

// Each block's sum, in the order of the weights.
struct TwoSums {
	std::vector<double> a, b;
};

class RedrawnDifference {
public:
	RedrawnDifference(const WeightedBlocks &a, const WeightedBlocks &b);

	double difference(const TwoSums &sums) const;
	std::optional<Interval> interval(const TwoSums &sums) const;
	// Interval of `part`'s difference over that of `whole`, which isn't 0.
	std::optional<Interval> share_interval(const TwoSums &part, const TwoSums &whole) const;

private:
	// The mean of A or of B, by place among the blocks of both; 0 at the other's blocks.
	struct OneMean {
		std::vector<size_t> order; // place of each of its blocks among all
		std::vector<double> weights; // of all
		double all = 0;
		std::vector<double> placed(const std::vector<double> &sums) const;
		double of(const std::vector<double> &placed, const Weights &drawn) const;
	};
	struct Placed {
		std::vector<double> a, b;
	};
	Placed placed(const TwoSums &sums) const { return {a_.placed(sums.a), b_.placed(sums.b)}; }
	// Half the interval of the difference of `sums`, with as many effective clusters as `part` has.
	std::optional<double> half_width(const Placed &sums, const Placed &part) const;

	OneMean a_, b_;
	BlockDraws draws_; // in which both have weight
};

} // namespace icepath::stats
