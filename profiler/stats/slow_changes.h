// SPDX-License-Identifier: Apache-2.0
#pragma once
// The variance that a run can't average out: a machine that changes more slowly than clusters (openings, or blocks)
// follow each other. Clocks rise and fall, neighbours come and go, a hypervisor moves its CPUs. Clusters are then not
// independent evidence: those of one minute are alike, and an interval that shrinks with their number holds for that
// minute only.
//
// In the order of measuring, the clusters are cut into K stretches. Without slow changes, drawing stretches spreads a
// statistic as much as drawing clusters does. If a stretch has a variance of its own that is s times that of a
// stretch's mean over its clusters, drawing stretches spreads the statistic 1 + s times as much:
//
//     r = V_stretches / V_clusters ~ (1 + s) · chi-squared(d) / d        for d = K - 1
//
// with the variances V of the whole run's statistic under either redrawing, each with its factor count / (count - 1).
// The estimate r - 1 is below 0 in half of the runs where s is small, and a run that then ignores slow changes
// contradicts the next one. So s isn't taken for 0 because eight stretches happen to be alike. It is the lower tercile
// of its posterior, s >= 0, after r is known, with a prior that is uniform in the logarithm of 1 + s (Box and Tiao,
// "Bayesian Inference in Statistical Analysis", 1973, 5.2). For a truncated chi-squared distribution X that is
//
//     1 + s = d · r / x        where P(X < x) = P(X < d · r) · 2/3
//
// The tercile is by simulation: with the median, intervals of 24 clusters would be three times as wide as those of a
// machine that never changes, and contain the truth in 98 % or more of the runs of all machines that were tried. With
// fewer than 16 clusters, these differ by so much that s = max(0, r - 1) suffices.
//
// The variance of a stretch isn't divided by K: another run resembles another stretch, no matter how many stretches
// this run had. So, for n clusters,
//
//     variance = V_clusters + s · K · V_clusters · n / (n - K)
//
// with the degrees of freedom that Satterthwaite's formula gives the sum of two estimates. A run can't show changes
// that are slower than itself: the report prints what it saw of the machine, to tell two runs apart
// (analysis/line_levels.h).
#include <cstddef>

#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

inline constexpr size_t kStretches = 8, kFewStretches = 4; // with at least two clusters each

// `clusters` are numbered in the order of measuring. Count 0 if there are too few clusters.
Clusters stretches_of(const Clusters &clusters);

struct Spread {
	double variance = 0, freedom = 1; // freedom: at least 1
	double half_width(double outside = 0.05) const; // of an interval, by Student's t
};

// `of_stretches` is used if `stretches` isn't 0.
Spread with_slow_changes(double of_clusters, double freedom, size_t clusters, double of_stretches, size_t stretches);

} // namespace icepath::stats
