// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mean over some of a run's messages, and its interval: the blocks' sums over their numbers of messages.
//
// Like the intervals of percentiles (block_interval.h), it redraws whole blocks, and Student's t and sqrt(B / (B-1))
// correct for few blocks. With the standard deviation s of the redrawn means m it is
//
//     exp(log m ± t(0.975, max(1, K-1)) · s/m · sqrt(B / (B-1)))
//
// widened by slow changes (slow_changes.h). B is the number of blocks, or of clusters of them. K is Kish's effective
// number, the sum squared over the sum of squares: how many equal blocks would carry as much evidence. A sum that few
// blocks have, or that one has most of, varies as those few do. The logarithm is taken of the mean, because redrawn
// means may be zero. A sum that fewer than kBlocksBeyond blocks have was met by luck, and has no interval.
//
// In simulated runs (tests/stats/block_ratio_test.cc) 93 to 98 % of the intervals contain the truth.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/block_draws.h"
#include "profiler/stats/interval.h"

namespace icepath::stats {

class RedrawnMeans {
public:
	// The weight of each block: its messages, or what stands for them. `clusters`, in the same order: blocks with the
	// same number are drawn together; without it each block is a cluster.
	explicit RedrawnMeans(std::vector<double> weights, const std::vector<uint32_t> &clusters = {});

	// `sums`: each block's sum, in the order of `weights`.
	double mean(const std::vector<double> &sums) const; // 0 if all weights are 0
	std::optional<Interval> interval(const std::vector<double> &sums) const;

private:
	std::vector<double> weights_;
	double all_ = 0; // of weights_
	BlockDraws draws_; // without those of no weight
};

} // namespace icepath::stats
