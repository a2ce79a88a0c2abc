// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mean over some of a run's messages, and its interval: what each block has of a sum, over what it has of their number.
//
// The interval is found as those of percentiles are (block_interval.h): blocks are redrawn whole, and Student's t and sqrt(B / (B-1))
// mend what few blocks leave out. With the standard deviation s of the redrawn means m it is
//
//     exp(log m ± t(0.975, max(1, K-1)) · s/m · sqrt(B / (B-1)))
//
// with what changes slowly beside it (slow_changes.h), for B blocks (or clusters of them) that have as much of the sum between them as K equal ones: Kish's effective number, the sum squared
// over the sum of squares. What few blocks have, or one has most of, varies as those few do. Zeros, of which there are many
// then, have no logarithm, so it is the mean's that is taken. What fewer than kBlocksBeyond blocks have is no more than the luck of having
// met it, and has no interval.
//
// In simulated runs (tests/stats/block_ratio_test.cc) 93 to 98 % of the intervals hold the truth.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/interval.h"
#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

class RedrawnMeans {
public:
	// How much each block counts: its messages, or what stands for them. `clusters`, beside it: blocks with the same number are drawn
	// together; without it each is alone.
	explicit RedrawnMeans(std::vector<double> weights, const std::vector<uint32_t> &clusters = {});

	// Of what each block has in sum, beside `weights`.
	double mean(const std::vector<double> &sums) const; // 0 where nothing counts
	std::optional<Interval> interval(const std::vector<double> &sums) const;

private:
	std::vector<Weights> redrawn(const Clusters &clusters) const;
	double variance(const std::vector<double> &sums, const std::vector<Weights> &draws, size_t clusters) const;
	double effective_clusters(const std::vector<double> &sums) const;

	std::vector<double> weights_;
	Clusters clusters_;
	double all_ = 0; // of weights_
	Clusters stretches_;
	std::vector<Weights> draws_, draws_of_stretches_; // those with any weight
};

} // namespace icepath::stats
