// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where rates stop to hold, from blocks that held or didn't.
//
// Near the limit a rate holds in some blocks and not in others, and anywhere a block may fail because somebody else had the
// CPU. So the threshold, where half of the blocks hold, is estimated as psychophysics does it: a logistic curve over the
// logarithm of the rate,
//
//     P(a block holds at level n) = g + (1 - g - d) / (1 + exp((n - threshold) / width)),
//
// for every threshold of the grid, widths from sharp to an octave, and shares d of disturbed blocks, all held equally likely
// beforehand; what they make of the blocks seen is the posterior. Width and d are summed over: Kontsevich and Tyler, "Bayesian
// adaptive estimation of psychometric slope and threshold", Vision Research 39, 1999.
#include <cstdint>
#include <map>

#include "profiler/rate/terms.h"

namespace icepath::rate {

struct Tally {
	uint32_t blocks = 0, held = 0;
};
using Tallies = std::map<int, Tally>; // by level

struct Threshold { // in levels, between the rates tried and beyond them by an octave
	double median = 0;
	double low = 0, high = 0; // 95 % of the posterior lie between them
};

// Any tallies, none included. Levels that are off the terms are taken as they are.
Threshold estimate(const Tallies &tallies, const Terms &terms);

} // namespace icepath::rate
