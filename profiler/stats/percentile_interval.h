// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interval of a percentile, from the interval of a share.
//
// The p50 is a place up to which half of the messages lie. So its interval has every measured value v for which that
// can be true: the share F(v) of messages up to v isn't certainly less than half, and the share of those below v isn't
// certainly more. Certainly means by more than t · s, with the standard deviation s of that share (cluster_share.h):
// clustered, and with slow changes. Inverting the test of a share is Woodruff's method ("Confidence Intervals for
// Medians and Other Position Measures", Journal of the American Statistical Association 47, 1952), with s at v instead
// of at the percentile (Francisco and Fuller, "Quantile Estimation with a Complex Survey Design", The Annals of
// Statistics 19, 1991).
//
// The interval isn't symmetric where the distribution isn't. Its ends are measured values: it reaches into a slow mode
// if half of another run's messages may be slower than the fast one, and no further. A standard deviation of redrawn
// p50s says neither: where openings are of a few states, or messages of a few modes, p50s jump, and e^±2s ends beyond
// all of them. On the other hand no interval from measured values has a state that the run didn't see.
//
// Of few clusters all may lie on one side of the truth: of five, once in sixteen runs. So with fewer than
// kLeastForShares an interval comes from the bootstrap, which may end beyond all of them (block_interval.h).
//
// In simulated runs of 40 openings (tests/stats/percentile_interval_test.cc) 93 % or more of the intervals contain the
// true p50; 80 % or more on a machine that shows five states in a run.
#include <cstddef>

#include "profiler/stats/interval.h"
#include "profiler/stats/percentile.h"
#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

inline constexpr size_t kLeastForShares = 8;

// Needs kLeastForShares clusters for what is said above. The ends are found by bisection. `outside`: probability that
// it doesn't have the truth.
Interval interval_by_shares(const RedrawnRun &run, Percentile p, const Clusters &clusters, double outside = 0.05);

} // namespace icepath::stats
