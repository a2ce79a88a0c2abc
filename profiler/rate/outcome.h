// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of a cell's search, from the stored blocks: the same in the session and in every later report.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/rate/search.h"

namespace icepath::rate {

// Whether one block kept the limits at its rate, by its stamps, without the warm-up.
struct Verdict {
	bool held = false;
	uint64_t sent = 0, lost = 0;
	// From the time a message was due to its reception; missing if too few arrived (stats::supported()).
	std::optional<uint64_t> p99_ns;
};

// Nothing for a block that doesn't steer the search: one with probes, without a rate, ended early, or with too few
// messages. A block that its deadline ended didn't hold: its sender lagged that far behind.
std::optional<Verdict> judge(const model::Block &block, const model::Cell &cell);

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
	bool uses(double hz) const;
	bool uses(const model::Block &block) const;
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
