// SPDX-License-Identifier: Apache-2.0
#pragma once
// On what terms the highest rate of a cell is sought: which rates are tried, and how long a block must be to judge one.
#include <cstdint>

#include "profiler/model/cell.h"

namespace icepath::rate {

// Rates stand on a grid, the same for every cell: level n is 10 kHz · 2^(n/14), so that neighbours are 5.1 % apart. No finer
// answer is given: blocks of one rate differ by more on most machines.
inline constexpr int kLevelsPerOctave = 14;
double hz_of(int level);
int level_of(double hz); // the nearest; hz above 0

struct Terms {
	// Who is sent to at (1 + e) times what he can take is behind by e·t after t: a rate that is one level too high must have
	// passed the limit of p99 well before the block ends, or else a queue would hide it.
	uint64_t block_ns = 0;
	// Counted messages: so many that a p99 can be told (stats::supported()) even where max_loss of them are missing.
	uint32_t least_messages = 0;
	int lowest = 0, highest = 0; // levels that may be tried; highest: what there is room for in a block of block_ns
};
Terms terms_of(const model::Cell &cell); // with limits

uint32_t messages_at(const Terms &terms, double hz); // counted ones of a block
// What the block of so many messages takes, if the sender keeps to its schedule.
uint64_t scheduled_ns(uint32_t messages, double hz);

} // namespace icepath::rate
