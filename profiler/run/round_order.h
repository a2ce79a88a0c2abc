// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each round of blocks is for, by its number, which counts from 0.
#include <cstdint>

namespace icepath::run {

// Rounds go probed, unprobed, unprobed, probed: linear drift cancels in every four. The next four are inverted: cold
// state of fresh processes affects rounds without probes as often as those with them.
constexpr bool is_probed(uint32_t round)
{
	const bool outer = round % 4 == 0 || round % 4 == 3;
	return outer == (round % 8 < 4);
}

// Hardware counters disturb latencies and layers (profiler/worker/counters.h), so they have rounds of their own: few,
// and none before each cell has the three blocks that an interval needs.
constexpr bool counts_hardware(uint32_t round) { return round % 8 == 7; }

// Probed and unprobed rounds each alternate the direction, so that no cell always follows the same one.
constexpr bool goes_back(uint32_t round) { return round % 4 >= 2; }

} // namespace icepath::run
