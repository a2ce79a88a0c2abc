// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a round of blocks is for, by its number, which counts from 0.
#include <cstdint>

namespace icepath::run {

// Rounds go probed, unprobed, unprobed, probed: drift that is linear in time cancels in every four. The next four go the other
// way round: what is still cold in fresh processes is met as often without probes as with them.
constexpr bool is_probed(uint32_t round)
{
	const bool outer = round % 4 == 0 || round % 4 == 3;
	return outer == (round % 8 < 4);
}

// Hardware counters would disturb both latencies and layers (profiler/worker/counters.h), so some rounds are theirs: few, and
// none before each cell has the three blocks that an interval needs.
constexpr bool counts_hardware(uint32_t round) { return round % 8 == 7; }

// The probed rounds, and the unprobed, go through the cells forth and back in turn, so that none always follows the same one.
constexpr bool goes_back(uint32_t round) { return round % 4 >= 2; }

} // namespace icepath::run
