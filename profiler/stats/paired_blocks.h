// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two conditions measured in turns (ABBA): each pair of neighbouring blocks shares the state of the machine, so what they
// differ by is the condition. Used for what probes add, and for comparing two builds.
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
};

// {untreated, treated} of rounds that follow each other; each block is in one pair at most. `blocks` in any order, one
// of each round.
std::vector<std::pair<double, double>> neighbours(std::vector<BlockValue> blocks);

struct Effect {
	double mean = 0;
	size_t pairs = 0;
	std::optional<Interval> interval; // missing below kMinBlocks pairs
};

// Mean of treated - untreated, with Student's t interval over the pairs. Nothing without a pair.
std::optional<Effect> paired_difference(const std::vector<std::pair<double, double>> &pairs);

// Geometric mean of treated / untreated, its interval likewise, on the logarithms. Pairs with a value <= 0 are left out.
std::optional<Effect> paired_ratio(const std::vector<std::pair<double, double>> &pairs);

} // namespace icepath::stats
