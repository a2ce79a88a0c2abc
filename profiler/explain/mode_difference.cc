// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/mode_difference.h"

#include <fmt/format.h>

#include <optional>

#include "profiler/model/cell_title.h"

namespace icepath::explain {

std::vector<ModeDifference> mode_differences(const analysis::CellResult &cell)
{
	const analysis::Code code = cell.code();
	std::vector<ModeDifference> differences;
	std::optional<size_t> fastest;
	for (size_t i = 0; i < cell.modes.all.size(); ++i) {
		if (!cell.modes.all[i].seen_with_probes())
			continue;
		if (fastest)
			differences.push_back(
				{*fastest, i,
				 compare({cell.modes.all[i].range.layers, code}, {cell.modes.all[*fastest].range.layers, code})});
		else
			fastest = i;
	}
	return differences;
}

} // namespace icepath::explain
