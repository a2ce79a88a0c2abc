// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two cells by the rounds that measured both. Such a pair of blocks shares the machine's state, so its ratio
// holds in whatever state the machine is. Whether the intervals of both cells overlap says less: each contains all
// changes of the machine, and most of these are changes of both cells.
//
//     d(r) = log(value of A in round r / value of B in round r)
//
// A block's value is trimmed_geometric_mean(), not its p50. Where messages have several modes a p50 lies in one of
// them, says nothing of how many messages are in the others, and jumps to another as their shares wander. The mean
// counts each mode by what is left of it: of modes with 17, 36 and 47 % of the messages that is 9, 45 and 46 %.
//
// The ratio is exp(m) for the trimmed mean m of d, which leaves out a fifth at each end: a block that another task
// disturbed takes twice or ten times as long, and a few of these would make most of a mean's variance. What is left of
// two modes of a cell still counts by its share; a median would jump from one to the other. With the winsorized d, w
// (the fifths at the ends moved to their borders), each round pushes the mean by (w - mean of w) / h, for h rounds that
// are left of n (K. K. Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61, 1974).
//
// Blocks of one opening share the luck of their processes, and a round has an opening of either cell. So pushes are
// summed by opening before they are squared, for both cells (Cameron, Gelbach and Miller, "Robust Inference With
// Multiway Clustering", Journal of Business & Economic Statistics 29, 2011):
//
//     V = V_openings(A) + V_openings(B) - V_both
//
// and never less than either of the first two. Where both cells get fresh processes in the same rounds, V is that of
// these openings. Student's t has G h/n - 1 degrees of freedom, for G openings of the cell that has fewer.
//
// Slow changes of the ratio itself (a state of the machine slows one target more than the other) are treated in two
// ways. The interval should hold for another run, so it is widened as all intervals are (slow_changes.h). The
// probability asks whether the cells differ in this run's mixture of states, so stretches are clusters like openings,
// whose variance shrinks with their number: batch means (Law, "Simulation Modeling and Analysis", 2015, 9.5.3). It is
// the larger one of the probabilities over openings and over stretches.
//
// On simulated machines (tests/stats/round_ratio_test.cc) 92 % or more of the intervals contain the true ratio, and a
// cell differs from itself in 5 % or less of the runs.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiler/stats/interval.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::stats {

// Geometric mean of a block's messages without the fastest and the slowest tenth. `sorted`: ascending, not empty; 0
// counts as 1.
double trimmed_geometric_mean(std::span<const uint64_t> sorted);

struct RoundRatio {
	double ratio = 1; // > 0
	size_t rounds = 0; // that measured both cells; at least kMinBlocks
	size_t openings = 0; // in these rounds, of the cell that has fewer
	Interval interval; // of the ratio; over rounds if there are fewer than kMinBlocks openings
	// Probability of this ratio, or of one further from 1, if the true one is 1. Missing with fewer than kMinBlocks
	// openings: a difference may then be the luck of the processes.
	std::optional<double> p;
};

inline constexpr double kTrimmed = 0.2; // share of the rounds that is left out at each end
inline constexpr size_t kTrimmedFrom = 10; // openings; with fewer, the degrees of freedom are worth more

// A over B, of untreated blocks with a value above 0, in any order, at most one for each round and cell. Nothing with
// fewer than kMinBlocks rounds in common. A round that lacks either block is left out. Pure; O(n log n).
std::optional<RoundRatio> ratio_within_rounds(const std::vector<BlockValue> &a, const std::vector<BlockValue> &b);

RoundRatio inverse(RoundRatio ratio); // of B over A

// How many times as wide, on the log scale, the ratio's interval is as any ratio can be, where no value is above
// `most`: above 1 the blocks tell nothing of it. `a`, `b`: as of ratio_within_rounds(), which gave the ratio.
double times_too_wide(const RoundRatio &ratio, const std::vector<BlockValue> &a, const std::vector<BlockValue> &b,
					  double most);

} // namespace icepath::stats
