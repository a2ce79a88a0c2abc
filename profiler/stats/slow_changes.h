// SPDX-License-Identifier: Apache-2.0
#pragma once
// The variance that a run can't average out: a machine that changes more slowly than clusters (openings, or blocks)
// follow each other. Clocks rise and fall, neighbours come and go, a hypervisor moves its CPUs. Clusters are then not
// independent evidence: those of one minute are alike, and an interval that shrinks with their number holds for that
// minute only.
//
// In the order of measuring, the clusters are cut into K stretches. Without slow changes, drawing stretches spreads a
// statistic as much as drawing clusters does. Any further spread is a difference between stretches that their clusters
// don't explain:
//
//     slow = max(0, K · (V_stretches - V_clusters)) · n / (n - K)
//
// for n clusters, with the variances V of the whole run's statistic under either redrawing, each with its factor count
// / (count - 1). It is the variance of one stretch. It isn't divided by K: another run resembles another stretch, no
// matter how many stretches this run had. So
//
//     variance = V_clusters + slow
//
// with the degrees of freedom that Satterthwaite's formula gives the sum of two estimates. A run can't show changes
// that are slower than itself: the report prints what it saw of the machine, to tell two runs apart
// (report/line_levels.h).
#include <cstddef>

#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

inline constexpr size_t kStretches = 8, kFewStretches = 4; // with at least two clusters each

// `clusters` are numbered in the order of measuring. Count 0 if there are too few clusters.
Clusters stretches_of(const Clusters &clusters);

struct Spread {
	double variance = 0, freedom = 1; // freedom: at least 1
	double half_width() const; // half of a 95 % interval, by Student's t
};

// `of_stretches` is used if `stretches` isn't 0.
Spread with_slow_changes(double of_clusters, double freedom, size_t clusters, double of_stretches, size_t stretches);

} // namespace icepath::stats
