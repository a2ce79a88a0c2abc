// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/outcome.h"

#include <algorithm>

namespace icepath::rate {

bool Outcome::tells_of(double hz) const
{
	if (!found.statistics_hz)
		return false;
	const int below = level_of(*found.statistics_hz) - level_of(hz);
	return below == 0 || below == 1;
}

bool Outcome::tells_of(const model::Block &block) const
{
	return block.rate_hz && tells_of(*block.rate_hz) && (block.confirms || !confirmed_by_enough());
}

size_t Outcome::held_again() const
{
	return static_cast<size_t>(
		std::ranges::count_if(confirmations, [](const Attempt &attempt) { return attempt.verdict.held; }));
}

void OutcomeOf::add(const model::Block &block)
{
	const std::optional<Verdict> verdict = judge(block, cell_);
	if (!verdict)
		return;
	const Attempt attempt{block.window->round, *block.rate_hz, *verdict};
	if (block.confirms) {
		outcome_.confirmations.push_back(attempt);
		return;
	}
	outcome_.attempts.push_back(attempt);
	Tally &tally = tallies_[level_of(*block.rate_hz)];
	++tally.blocks;
	tally.held += verdict->held;
}

Outcome OutcomeOf::take()
{
	outcome_.found = found_rate(tallies_, terms_);
	return std::move(outcome_);
}

} // namespace icepath::rate
