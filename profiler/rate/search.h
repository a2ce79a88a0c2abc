// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for the highest rate that holds. Pure: told what each block came to, it says at which rate the next one shall
// run. Each block runs where the threshold most probably is by all that is known (the median of its posterior), as in Watson and
// Pelli, "QUEST: a Bayesian adaptive psychometric method", Perception & Psychophysics 33, 1983. That halves what is unknown
// as bisection does, recovers from a block that failed by chance, and then stays at the threshold, whose blocks the answer needs.
// Once two blocks in a row held there the next one tries the level above, since that it fails must be known as well.
// A block is no further than an octave from the one before: slow ones take long, and one that failed may have met a disturbance.
#include <optional>

#include "profiler/rate/threshold.h"

namespace icepath::rate {

struct FoundRate {
	// The answer: the highest rate tried at which more than half of the blocks held, none having more than a lower rate (their
	// shares are pooled until they fall), where at least kProof blocks held at it or faster.
	std::optional<double> hz;
	// The lowest rate above it, or where there is none the lowest of all, at which no more than half of the blocks held.
	std::optional<double> failed_hz;
	// 95 % interval of the threshold, rounded outwards to the grid. Missing where it reaches past the rates that may be tried.
	std::optional<double> low_hz, high_hz;
	// What statistics are of: `hz`; where that is missing the best so far, without that proof, else the lowest tried. Missing
	// without a block.
	std::optional<double> statistics_hz;
};
inline constexpr uint32_t kProof = 3;

// Of `expected` pairs of rounds the last third, and kProof at least, confirm what the others found, in blocks that chose nothing;
// none where that would leave the search fewer than them.
bool is_time_to_confirm(uint32_t pairs_done, uint32_t expected);

FoundRate found_rate(const Tallies &tallies, const Terms &terms);

class RateSearch {
public:
	explicit RateSearch(const Terms &terms);

	double next_hz() const { return next_hz_; } // within the terms
	void add(double hz, bool held);
	// The best known so far, proven or not; missing while nothing has held.
	std::optional<double> best_hz() const;
	FoundRate found() const { return found_rate(tallies_, terms_); }

private:
	Terms terms_;
	Tallies tallies_;
	double next_hz_;
	int held_in_a_row_ = 0; // where the threshold is thought to be
};

} // namespace icepath::rate
