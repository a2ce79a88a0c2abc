// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two conditions measured in turns (ABBA): each pair of neighbouring blocks shares the state of the machine, so what they
// differ by is the condition, and the drift from one block to the next. That counts for the condition in pairs that have it last and
// against it in the others, so the mean of either kind is taken, and the mean of the two: linear drift cancels however many
// pairs of a kind fell out. Used for what probes add, and for comparing two builds.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/stats/block_interval.h"

namespace icepath::stats {

struct BlockValue {
	uint32_t round = 0;
	bool treated = false; // probed, or the new build
	double value = 0; // a percentile of the block
	uint32_t opening = 0; // of the processes that measured it
};

struct BlockPair {
	double untreated = 0, treated = 0;
	bool treated_last = true;
	double at = 0; // between its two rounds
	uint32_t opening = 0;
	friend bool operator==(const BlockPair &, const BlockPair &) = default;
};

// Rounds that follow each other, of one opening; each block is in one pair at most. `blocks` in any order, one of each round.
std::vector<BlockPair> neighbours(std::vector<BlockValue> blocks);

struct Effect {
	double mean = 0;
	size_t pairs = 0;
	std::optional<Interval> interval; // missing below kMinBlocks pairs, or openings
};

// What the intervals rest on, as those of percentiles do: pairs, each alone, or openings with all of theirs. Either have Student's t
// with two degrees of freedom less than there are, and what changes slowly counts as in slow_changes.h.
enum class Over : bool { Pairs, Openings };

// Mean of treated - untreated without linear drift. Where all pairs have one order, the drift is that of the pairs' own levels, which
// costs precision; a single pair can't tell it. Nothing without a pair.
std::optional<Effect> paired_difference(const std::vector<BlockPair> &pairs, Over over = Over::Pairs);

// Geometric mean of treated / untreated, and its interval, likewise on the logarithms. Pairs with a value <= 0 are left out.
std::optional<Effect> paired_ratio(const std::vector<BlockPair> &pairs);

} // namespace icepath::stats
