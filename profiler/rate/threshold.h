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

#include "profiler/rate/terms.h"

namespace icepath::rate {

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
