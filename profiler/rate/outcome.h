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
	std::vector<Attempt> attempts; // blocks that were judged, in their order
	FoundRate found;

	// Whether a block is of those that statistics are made of: at found.statistics_hz, or one level below it.
	// Faster ones are left out: mixed with those that hold, what doesn't would tell of neither.
	bool tells_of(double hz) const;
	bool tells_of(const rundir::Block &block) const { return block.rate_hz && tells_of(*block.rate_hz); }
};

// Collects it block by block.
class OutcomeOf {
public:
	explicit OutcomeOf(const rundir::Cell &cell) : cell_(cell), terms_(terms_of(cell)) {}
	void add(const rundir::Block &block);
	Outcome take();

private:
	const rundir::Cell &cell_;
	Terms terms_;
	Tallies tallies_;
	Outcome outcome_;
};

} // namespace icepath::rate
