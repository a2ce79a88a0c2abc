// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run can't average out: a machine that changes more slowly than its clusters (openings, or blocks) follow each other. Clocks
// rise and fall, neighbours come and go, a hypervisor moves its CPUs. Clusters are then no independent evidence: those of one minute
// are alike, and an interval that shrinks with their number is one for this minute and not for the next.
//
// The clusters are cut, in the order in which they were measured, into K stretches. Had nothing changed slowly, drawing stretches would
// spread a statistic as drawing clusters does. By what it spreads it more, the stretches differ beside what their clusters explain:
//
//     slow = max(0, K · (V_stretches - V_clusters)) · n / (n - K)
//
// for n clusters, and the variances V of the statistic of the whole run under either redrawing, each with its factor count / (count - 1).
// That is one stretch's. It isn't divided by their number: another run is as another stretch is, and how many there were of this
// one's makes it no more alike. So
//
//     variance = V_clusters + slow
//
// with the degrees of freedom that Satterthwaite's formula gives the sum of two estimates. What changes more slowly than a whole run
// no run can know: the report tells what it saw of the machine, so that two runs can be told apart (report/line_levels.h).
#include <cstddef>

#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

inline constexpr size_t kStretches = 8, kFewStretches = 4; // each of two clusters at least

// Of blocks whose clusters are numbered as they follow each other. None (count 0) where there are too few clusters.
Clusters stretches_of(const Clusters &clusters);

struct Spread {
	double variance = 0, freedom = 1; // freedom: at least 1
	double half_width() const; // of 95 %, by Student's t
};

// `of_stretches` counts where there are any.
Spread with_slow_changes(double of_clusters, double freedom, size_t clusters, double of_stretches, size_t stretches);

} // namespace icepath::stats
