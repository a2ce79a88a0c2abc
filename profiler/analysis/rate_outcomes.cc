// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/rate_outcomes.h"

#include <algorithm>
#include <cstddef>

#include "profiler/model/block.h"
#include "profiler/rundir/container.h"

namespace icepath::analysis {

std::vector<std::optional<rate::Outcome>> search_outcomes(const std::string &run, const std::vector<model::Cell> &cells)
{
	std::vector<std::optional<rate::Outcome>> outcomes(cells.size());
	const auto searches = [](const model::Cell &cell) { return cell.limits.has_value(); };
	if (std::ranges::none_of(cells, searches))
		return outcomes;
	rundir::Reader reader(run, rundir::Contents::WithoutRecords);
	std::vector<rate::OutcomeOf> collected(cells.begin(), cells.end());
	while (const auto window = reader.next())
		for (const model::Block &block : window->blocks)
			collected[block.cell].add(block);
	for (size_t i = 0; i < cells.size(); ++i)
		if (searches(cells[i]))
			outcomes[i] = collected[i].take();
	return outcomes;
}

} // namespace icepath::analysis
