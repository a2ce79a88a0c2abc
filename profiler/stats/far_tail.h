// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which percentiles a run's blocks can tell at all, and the interval of those that rare events make.
//
// What lies beyond a percentile comes in clusters: a stall delays all messages that fall into it. A p99.9 may rest on three
// stalls then, however many messages they hold, and a run that met none of them doesn't know that there are any. So
//
// - what lies beyond it must lie in several blocks (kBlocksBeyond), and
// - beyond p99 a run must be so long that it would have met such stalls: kFarBeyond messages beyond the percentile are 3.7 stalls
//   of 20 messages, and e^-3.7 of the runs, 2.5 %, meet none. It must have as many blocks, since whatever delays a message may
//   delay all of its block. Neither number looks at the values: no run is left out because its values are far apart.
//
// The interval of such a percentile goes from one measured value to another. How many values truly lie beyond a place of
// which `count` were seen there is asked of a Poisson distribution of clusters: by how much the blocks' counts vary more
// than those of independent messages would (the index of dispersion) tells how many messages a cluster has. The interval is
// every place at which n·(1-p) messages beyond it aren't refused, 2.5 % on either side. A bootstrap has nothing to redraw where
// a run met few stalls: on the same simulated runs of 100 blocks (tests/stats/far_tail_test.cc) it held the truth in 76 to 96 %,
// where this holds it in 94 to 99 %.
#include <cstdint>
#include <optional>

#include "profiler/stats/interval.h"
#include "profiler/stats/percentile.h"
#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

inline constexpr size_t kBlocksBeyond = 5;
inline constexpr uint64_t kFarBeyond = 75; // n·(1-p), and blocks

// Rarer than p99.
constexpr bool is_far(Percentile p) { return p.per_100000 > kP99.per_100000; }

// How many blocks have a value beyond the percentile.
size_t blocks_beyond(const RedrawnRun &run, Percentile p);

// Whether `run`, which supports() it, has the messages and blocks for it: see above. A p50 isn't made by few blocks. What lies beyond
// a far one must lie in several clusters as well.
bool enough_beyond(const RedrawnRun &run, Percentile p, const Clusters &clusters);

// How many clusters that have equally many values beyond the percentile would be as much evidence: Kish's effective number, the sum
// squared over the sum of squares.
double effective_clusters(const RedrawnRun &run, Percentile p, const Clusters &clusters);

// Of a far percentile that has enough beyond it. Nothing where no value that was measured is high enough to bound it.
std::optional<Interval> far_interval(const RedrawnRun &run, Percentile p, const Clusters &clusters);

} // namespace icepath::stats
