// SPDX-License-Identifier: Apache-2.0
#pragma once
// The share of a run's messages that are of one kind, and its interval.
//
// Messages of an opening are alike, so the share is a ratio of sums over clusters, with the variance of such a ratio
// (Cochran, "Sampling Techniques", 1977, chapter 6):
//
//     V = G / (G-1) · Σ (x - share · n)² / (Σ n)²        for x of n messages in each of G clusters
//
// widened by changes that are slower than openings follow each other (slow_changes.h). Student's t is taken on the
// logit, log(share / (1 - share)), so that the interval lies between 0 and 1, and that of the other messages is its
// complement. Its degrees of freedom come from Kish's effective number of clusters.
//
// In simulated runs whose shares wander from opening to opening, 90 % or more of the intervals contain the true share
// with 30 openings or more. With twelve it is 90 % if each opening is independent of the last, and 75 % if it resembles
// the last by 0.9 (tests/stats/cluster_share_test.cc).
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/interval.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {

struct Counted {
	uint64_t count = 0, of = 0; // messages of a block that are of the kind, and all of them
	uint32_t cluster = 0;
};

struct Share {
	uint64_t count = 0, of = 0;
	std::optional<Interval> interval; // missing with fewer than kMinBlocks clusters, or if the share is 0 or 1
	double value() const { return of > 0 ? static_cast<double>(count) / static_cast<double>(of) : 0; }
};

// `blocks` in the order of measuring; those of one cluster are one piece of evidence. `outside`: probability that the
// interval doesn't have the true share.
Share share_of(const std::vector<Counted> &blocks, double outside = 0.05);

// The spread of the share itself, not of its logit, with slow changes. Nothing where share_of() has no interval.
std::optional<Spread> spread_of_share(const std::vector<Counted> &blocks);

} // namespace icepath::stats
