// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for the highest rate that holds. Pure: given each block's result, it returns the rate of the next block.
// Each block runs at the median of the threshold's posterior, as in Watson and Pelli, "QUEST: a Bayesian adaptive
// psychometric method", Perception & Psychophysics 33, 1983. That halves the uncertainty as bisection does, recovers
// from a block that failed by chance, and then stays at the threshold, where the answer needs blocks. After two blocks
// in a row that held there, the next one tries the level above, because the answer also needs a rate that fails. Rates
// of successive blocks differ by an octave at most: slow blocks take long, and a failure may be a disturbance.
#include <optional>

#include "profiler/rate/threshold.h"

namespace icepath::rate {

struct FoundRate {
	// The answer: the highest rate tried at which more than half of the blocks held (by pooled shares, which fall with
	// the rate), and at which or above which at least kProof blocks held.
	std::optional<double> hz;
	// The lowest rate at which no more than half of the blocks held, by pooled shares.
	std::optional<double> failed_hz;
	// 95 % interval of the threshold, rounded outwards to the grid. An end beyond the terms is missing.
	std::optional<double> low_hz, high_hz;
	// The rate that statistics describe: `hz`; without it the highest rate at which most blocks held; otherwise the
	// lowest tried. Missing without a block.
	std::optional<double> statistics_hz;
};
inline constexpr uint32_t kProof = 3;

// The last third of the `expected` pairs of rounds, at least kProof, confirm the rate. With fewer than 3 * kProof none
// do.
bool is_time_to_confirm(uint32_t pairs_done, uint32_t expected);

FoundRate found_rate(const Tallies &tallies, const Terms &terms);

class RateSearch {
public:
	explicit RateSearch(const Terms &terms);

	double next_hz() const { return next_hz_; } // within the terms
	void add(double hz, bool held);
	// The best rate so far, proven or not; missing while no rate has held.
	std::optional<double> best_hz() const;
	FoundRate found() const { return found_rate(tallies_, terms_); }

private:
	Terms terms_;
	Tallies tallies_;
	double next_hz_;
	int held_in_a_row_ = 0; // blocks at the estimated threshold
};

} // namespace icepath::rate
