// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of a cell's search, from the stored blocks: the same in the session and in every later report.
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
	std::vector<Attempt> attempts; // blocks that the search used, in order
	FoundRate found;
	// Blocks at the rate found, after the search. They don't take part in the choice: a rate chosen because its blocks
	// held looks better in those blocks than it is.
	std::vector<Attempt> confirmations;

	// Statistics use the confirming blocks if there are enough for an interval, otherwise the search's.
	bool confirmed_by_enough() const { return confirmations.size() >= kProof; }
	size_t held_again() const;

	// Whether statistics use a block. Without enough confirmations they use blocks at found.statistics_hz, or one level
	// below it. Faster blocks are left out, because a mix of rates that hold and rates that don't describes neither.
	bool tells_of(double hz) const;
	bool tells_of(const model::Block &block) const;
};

// Collects an Outcome block by block.
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
