// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terms of a cell's rate search: which rates are tried, and how long a block must be to judge one.
#include <cstdint>

#include "profiler/model/cell.h"

namespace icepath::rate {

// Rates form one grid for every cell: level n is 10 kHz · 2^(n/14), so neighbours are 5.1 % apart. On most machines,
// blocks of one rate differ by more than that.
inline constexpr int kLevelsPerOctave = 14;
double hz_of(int level);
int level_of(double hz); // the nearest; hz above 0

struct Terms {
	// A receiver offered (1 + e) times its capacity lags by e·t after t. At a rate one level too high, that lag must
	// exceed the limit of p99 well before the block ends, or a queue would hide it.
	uint64_t block_ns = 0;
	// Counted messages: enough for a p99 (stats::supported()) even if max_loss of them are missing.
	uint32_t least_messages = 0;
	int lowest = 0, highest = 0; // levels that may be tried; a block of block_ns has room for the highest
};
Terms terms_of(const model::Cell &cell); // of a cell with limits

uint32_t messages_at(const Terms &terms, double hz); // counted ones of a block
// Duration of a block of so many messages, if the sender keeps to its schedule.
uint64_t scheduled_ns(uint32_t messages, double hz);

} // namespace icepath::rate
