// SPDX-License-Identifier: Apache-2.0
#pragma once
// The threshold rate, above which rates no longer hold, from blocks that held or didn't.
//
// Near the limit a rate holds in some blocks and not in others, and at any rate a block may fail because another task
// had the CPU. So the threshold, at which half of the blocks hold, is estimated as in psychophysics, by a logistic
// curve over the logarithm of the rate,
//
//     P(a block holds at level n) = g + (1 - g - d) / (1 + exp((n - threshold) / width)),
//
// for every threshold of the grid, widths from sharp to an octave, and shares d of disturbed blocks, with a uniform
// prior. The posterior of the threshold is the marginal over width and d: Kontsevich and Tyler, "Bayesian adaptive
// estimation of psychometric slope and threshold", Vision Research 39, 1999.
#include <cstdint>
#include <map>

#include "profiler/model/cell.h"

namespace icepath::rate {

// The terms of a cell's rate search: which rates are tried, and how long a block must be to judge one.
//
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

struct Tally {
	uint32_t blocks = 0, held = 0;
};
using Tallies = std::map<int, Tally>; // by level

struct Threshold { // in levels, from an octave below the lowest rate of the terms to an octave above the highest
	double median = 0;
	double low = 0, high = 0; // bounds of the central 95 % of the posterior
};

// Takes any tallies, or none, and also levels outside the terms.
Threshold estimate(const Tallies &tallies, const Terms &terms);

} // namespace icepath::rate
