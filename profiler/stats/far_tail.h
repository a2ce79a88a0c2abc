// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which percentiles a run's blocks support, and the interval of those that rare events make.
//
// What lies beyond a percentile comes in clusters: a stall delays every message that falls into it. A p99.9 may then
// rest on three stalls, however many messages they hold, and a run without a stall can't know that there are any. So
//
// - what lies beyond the percentile must lie in several blocks (kBlocksBeyond), and
// - beyond p99 a run must be long enough to meet such stalls: kFarBeyond messages beyond the percentile are 3.7 stalls
//   of 20 messages, and e^-3.7 of the runs, 2.5 %, meet none. It must have as many blocks, since what delays a message
//   may delay all of its block. Neither number depends on the values, so no run is excluded because its values are far
//   apart.
//
// The interval of such a percentile goes from one measured value to another. The number of values that truly lie beyond
// a place, of which `count` were seen, is taken as a Poisson number of clusters. The index of dispersion, by how much
// the blocks' counts vary more than those of independent messages, gives the messages per cluster. The interval has
// every place at which n·(1-p) messages beyond it aren't refused, 2.5 % on each side. A bootstrap has nothing to redraw
// where a run met few stalls: on the same simulated runs of 100 blocks (tests/stats/far_tail_test.cc) its intervals
// contained the truth in 76 to 96 %, and these do in 94 to 99 %.
#include <cstdint>
#include <optional>

#include "profiler/stats/interval.h"
#include "profiler/stats/percentile.h"
#include "profiler/stats/redrawn_run.h"

namespace icepath::stats {

inline constexpr size_t kBlocksBeyond = 5;
inline constexpr uint64_t kFarBeyond = 75; // n·(1-p), and blocks

// Whether the percentile is beyond p99.
constexpr bool is_far(Percentile p) { return p.per_100000 > kP99.per_100000; }

// Number of blocks with a value beyond the percentile.
size_t blocks_beyond(const RedrawnRun &run, Percentile p);

// Whether `run`, which supports() the percentile, has the messages and blocks described above. A p50 is never made by
// few blocks. What lies beyond a far percentile must lie in several clusters, too.
bool enough_beyond(const RedrawnRun &run, Percentile p, const Clusters &clusters);

// Kish's effective number, the sum squared over the sum of squares: how many clusters with equally many values beyond
// the percentile would be as much evidence.
double effective_clusters(const RedrawnRun &run, Percentile p, const Clusters &clusters);

// Interval of a far percentile with enough beyond it. Nothing if no measured value is high enough to bound it.
std::optional<Interval> far_interval(const RedrawnRun &run, Percentile p, const Clusters &clusters);

} // namespace icepath::stats
