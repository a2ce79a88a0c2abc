// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two conditions measured in turns (ABBA). Neighbouring blocks share the state of the machine, so a pair
// differs by the condition and by the drift from one block to the next. That drift adds to the condition's effect in
// pairs that have the condition last, and subtracts in the others. The mean of the two kinds' means cancels linear
// drift, however many pairs of a kind are missing. Used for what probes add, and by tests/bench.
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
	uint32_t opening = 0; // number of the opening that measured it
};

struct BlockPair {
	double untreated = 0, treated = 0;
	bool treated_last = true;
	double at = 0; // midpoint of its two rounds
	uint32_t opening = 0;
	friend bool operator==(const BlockPair &, const BlockPair &) = default;
};

// Pairs of consecutive rounds of one opening; each block is in at most one pair. `blocks` in any order, one for each
// round.
std::vector<BlockPair> neighbours(std::vector<BlockValue> blocks);

struct Effect {
	double mean = 0;
	size_t pairs = 0;
	std::optional<Interval> interval; // missing below kMinBlocks pairs or openings
};

// What the intervals rest on: single pairs, or openings with all their pairs. Both have Student's t with two degrees of
// freedom less than their number, and slow changes as in slow_changes.h.
enum class Over : bool { Pairs, Openings };

// Mean of treated - untreated without linear drift. If all pairs have one order, the drift is estimated from the pairs'
// levels, which costs precision and needs more than one pair. Nothing without a pair.
std::optional<Effect> paired_difference(const std::vector<BlockPair> &pairs, Over over = Over::Pairs);

} // namespace icepath::stats
