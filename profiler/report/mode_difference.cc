// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/mode_difference.h"

#include <fmt/format.h>

#include <optional>

#include "profiler/model/cell_title.h"
#include "profiler/report/cell_modes.h"

namespace icepath::report {

std::vector<ModeDifference> mode_differences(const CellResult &cell)
{
	const bool of_library = cell.is_of_library();
	std::vector<ModeDifference> differences;
	std::optional<size_t> fastest;
	for (size_t i = 0; i < cell.modes.size(); ++i) {
		if (!cell.modes[i].seen_with_probes())
			continue;
		if (fastest)
			differences.push_back(
				{*fastest, i,
				 compare({cell.modes[i].range.layers, of_library}, {cell.modes[*fastest].range.layers, of_library})});
		else
			fastest = i;
	}
	return differences;
}

void add_mode_differences(Page &page, const CellResult &cell)
{
	page.heading(model::title(cell.cell));
	page.paragraph("modes", cell.modes.empty() ? "this run shows one" : modes_sentence(cell));
	if (const std::string probes = probes_text(cell); !probes.empty())
		page.paragraph("probes", probes);
	for (const ModeDifference &modes : mode_differences(cell))
		add_difference(page, modes.of,
					   {fmt::format("mode {}", modes.slow + 1), fmt::format("mode {}", modes.fast + 1), "difference",
						"of difference", true});
	page.line();
}

} // namespace icepath::report
