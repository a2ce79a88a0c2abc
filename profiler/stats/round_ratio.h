// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two cells by the rounds that measured both: the ratio of their blocks' times (round_difference.h). Whether
// the intervals of both cells overlap says less: each contains all changes of the machine, and most of these are
// changes of both cells.
//
// A block's value is trimmed_geometric_mean(), not its p50. Where messages have several modes a p50 lies in one of
// them, says nothing of how many messages are in the others, and jumps to another as their shares wander. The mean
// counts each mode by what is left of it: of modes with 17, 36 and 47 % of the messages that is 9, 45 and 46 %.
//
// The ratio is exp(m) for the mean m of the rounds' log ratios, without a fifth at each end.
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
#include "profiler/stats/round_difference.h"

namespace icepath::stats {

// Geometric mean of a block's messages without the fastest and the slowest tenth. `sorted`: those that came, ascending;
// 0 counts as 1. `lost`: further ones, slower than all of these; one or more of both. Infinite if more than a tenth is
// lost.
double trimmed_geometric_mean(std::span<const uint64_t> sorted, uint64_t lost = 0);

struct RoundRatio {
	double ratio = 1; // > 0
	size_t rounds = 0; // that measured both cells; at least kMinBlocks
	size_t openings = 0; // in these rounds, of the cell that has fewer
	Interval interval; // of the ratio; over rounds if there are fewer than kMinBlocks openings
	// Probability of this ratio, or of one further from 1, if the true one is 1. Missing with fewer than kMinBlocks
	// openings: a difference may then be the luck of the processes.
	std::optional<double> p;
};

// A over B, of untreated blocks with a value above 0, in any order, at most one for each round and cell. Nothing with
// fewer than kMinBlocks rounds in common. A round that lacks either block is left out. Pure; O(n log n).
std::optional<RoundRatio> ratio_within_rounds(const std::vector<BlockValue> &a, const std::vector<BlockValue> &b);

RoundRatio as_ratio(const RoundDifference &of_logs);
RoundRatio inverse(RoundRatio ratio); // of B over A

// How many times as wide, on the log scale, the ratio's interval is as any ratio can be, where no value is above
// `most`: above 1 the blocks tell nothing of it. `a`, `b`: as of ratio_within_rounds(), which gave the ratio.
double times_too_wide(const RoundRatio &ratio, const std::vector<BlockValue> &a, const std::vector<BlockValue> &b,
					  double most);

} // namespace icepath::stats
