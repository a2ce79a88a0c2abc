// SPDX-License-Identifier: Apache-2.0
#pragma once
// By how much a value of cell A exceeds that of cell B in the rounds that measured both: its mean over these rounds,
// how uncertain that is, and whether chance alone explains it.
//
// Such a pair of blocks shares the machine's state, so its difference holds in whatever state the machine is. Times are
// compared by the logarithm of their ratio, shares of messages by their difference:
//
//     d(r) = log(A in round r / B in round r)        or        A in round r - B in round r
//
// The mean m of d may leave out a fifth at each end: a block that another task disturbed takes twice or ten times as
// long, and a few of these would make most of a mean's variance. What is left of two modes of a cell still counts by
// its share; a median would jump from one to the other. With the winsorized d, w (the fifths at the ends moved to their
// borders), each round pushes the mean by (w - mean of w) / h, for h rounds that are left of n (K. K. Yuen, "The two-
// sample trimmed t for unequal population variances", Biometrika 61, 1974). A mean of tails leaves out nothing: what
// happens in few rounds is what a tail is made of.
//
// An infinite value is one that is longer than any that came, as of lost messages. It may be left out with the fifths;
// otherwise the mean isn't known. A difference of two such values isn't known either.
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
// Slow changes of the difference itself (a state of the machine slows one target more than the other) are treated in
// two ways. The interval should hold for another run, so it is widened as all intervals are (slow_changes.h). The
// probability asks whether the cells differ in this run's mixture of states, so stretches are clusters like openings,
// whose variance shrinks with their number: batch means (Law, "Simulation Modeling and Analysis", 2015, 9.5.3). It is
// the larger one of the probabilities over openings and over stretches.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/stats/interval.h"
#include "profiler/stats/paired_blocks.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {

enum class Scale : uint8_t {
	Logs, // of blocks with a value above 0
	Plain,
};
enum class Trim : uint8_t { Fifths, Nothing };

inline constexpr double kTrimmed = 0.2; // share of the rounds that Trim::Fifths leaves out at each end
inline constexpr size_t kTrimmedFrom = 10; // openings; with fewer, the degrees of freedom are worth more

struct RoundDifference {
	double mean = 0; // of log(A / B), or of A - B; NaN: not known
	double a = 0, b = 0; // either cell's own geometric or plain mean over these rounds, trimmed likewise
	size_t rounds = 0; // that measured both cells; at least kMinBlocks
	size_t openings = 0; // in these rounds, of the cell that has fewer
	double left = 1; // share of the rounds that the mean is of
	Spread openings_spread; // of the mean in this run, over openings
	Spread another_run; // the same with slow changes; over rounds if there are fewer than kMinBlocks openings
	// Probability of this mean, or of one further from 0, if the true one is 0. Missing with fewer than kMinBlocks
	// openings: a difference may then be the luck of the processes.
	std::optional<double> p;

	bool is_known() const; // otherwise the mean and what follows from it have no value
	Interval interval() const; // of the mean, 95 %, for another run
};

// A less B, of untreated blocks, in any order, at most one for each round and cell. Nothing with fewer than kMinBlocks
// rounds in common. A round that lacks either block is left out. Pure; O(n log n).
std::optional<RoundDifference> difference_within_rounds(const std::vector<BlockValue> &a,
														const std::vector<BlockValue> &b, Scale scale, Trim trim);

} // namespace icepath::stats
