// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/outcome.h"

namespace icepath::rate {

bool Outcome::tells_of(double hz) const
{
	if (!found.statistics_hz)
		return false;
	const int below = level_of(*found.statistics_hz) - level_of(hz);
	return below == 0 || below == 1;
}

void OutcomeOf::add(const rundir::Block &block)
{
	const std::optional<Verdict> verdict = judge(block, cell_);
	if (!verdict)
		return;
	outcome_.attempts.push_back({block.round, *block.rate_hz, *verdict});
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
