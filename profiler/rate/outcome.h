// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell's search came to, from the blocks that are kept: the same for the session and for every later report.
#include <cstdint>
#include <vector>

#include "profiler/rate/search.h"
#include "profiler/rate/verdict.h"

namespace icepath::rate {

struct Attempt {
	uint32_t round = 0;
	double hz = 0;
	Verdict verdict;
};

struct Outcome {
	std::vector<Attempt> attempts; // blocks that the search rests on, in their order
	FoundRate found;
	// Blocks at the rate found, after the search. They chose nothing: that a rate was chosen for holding makes it look better in
	// the blocks that it was chosen by.
	std::vector<Attempt> confirmations;

	// Statistics are of blocks that confirm, where there are enough for an interval, and else of the search's.
	bool confirmed_by_enough() const { return confirmations.size() >= kProof; }
	size_t held_again() const;

	// Whether a block is of those that statistics are made of; without enough confirmations: at found.statistics_hz, or one level
	// below it. Faster ones are left out: mixed with those that hold, what doesn't would tell of neither.
	bool tells_of(double hz) const;
	bool tells_of(const model::Block &block) const;
};

// Collects it block by block.
class OutcomeOf {
public:
	explicit OutcomeOf(const model::Cell &cell) : cell_(cell), terms_(terms_of(cell)) {}
	void add(const model::Block &block);
	Outcome take();

private:
	const model::Cell &cell_;
	Terms terms_;
	Tallies tallies_;
	Outcome outcome_;
};

} // namespace icepath::rate
