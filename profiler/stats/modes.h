// SPDX-License-Identifier: Apache-2.0
#pragma once
// The modes of a cell's messages: peaks of their density with a valley between them that chance doesn't explain.
//
// The density is that of messages per nanosecond, over bins that are a sixteenth of an octave wide, so the place of a
// peak or a valley is known to ±2.2 %. A value stands for the tick of the clock around it, so coarse clocks make no
// peaks. Counts and widths of the bins are smoothed alike by binomial weights over seven bins.
//
// A valley is judged by its blocks, one by one, because a one-peaked density that moves from block to block has several
// peaks in the sum of all blocks. If a block's messages have one peak, the density f in the valley is at least the
// lesser one of those at both peaks, wherever the block's own peak is. So
//
//     excess(block) = 1/2 · min(f(peak), f(peak after it)) - f(valley)
//
// is below 0 in the mean for every such block: the noise of counts makes the minimum smaller, not larger. The half
// leaves out shoulders, which one run would show and the next not. The excess is the mass by which the lower peak
// exceeds the valley (Müller and Sawitzki, "Excess Mass Estimates and Tests for Multimodality", Journal of the American
// Statistical Association 86, 1991), tested valley by valley (Minnotte, "Nonparametric Testing of the Existence of
// Modes", The Annals of Statistics 25, 1997) with Student's t over blocks. Flows of a block are judged each by itself
// and then summed: that messages to one receiver take longer makes no modes.
//
// The valley is the whole bottom between two peaks. It must be so wide that it would have 30 messages or more at half
// of the lower peak, so that a few messages far apart make none. Valleys that don't hold are filled, the shallowest
// first, until all hold. The peaks beside a filled valley count as one, which a block has at either place: so modes of
// a machine that changes its state are found as long as their ranges don't overlap.
//
// Processes that are always fast beside others that are always slow aren't found here, because no block shows both. See
// openings.h.
//
// In simulated runs (tests/stats/modes_test.cc) mixtures whose shares wander from opening to opening are found, and 1 %
// or less of the one-peaked ones are divided.
#include <cstdint>
#include <span>
#include <vector>

namespace icepath::stats {

inline constexpr double kLeastModeShare = 0.05; // of the messages
inline constexpr double kLeastModeRatio = 1.25; // of the peaks' places
inline constexpr size_t kLeastBlocksOfModes = 5; // with fewer, no modes
inline constexpr double kSureOfValley = 0.01; // probability of such a valley, or a deeper one, without modes

// Messages of one block and one flow.
struct BlockFlowValues {
	std::span<const uint64_t> values;
	size_t block = 0;
};

// The range of a mode: from valley to valley.
struct ModeRange {
	uint64_t from = 0, to = UINT64_MAX; // both inclusive
	bool holds(uint64_t value) const { return from <= value && value <= to; }
	friend bool operator==(const ModeRange &, const ModeRange &) = default;
};

// In ascending order; together they hold every value. Empty if there are fewer than two modes.
std::vector<ModeRange> modes_of(const std::vector<BlockFlowValues> &messages);

} // namespace icepath::stats
