// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/run_state.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/model/cell_title.h"
#include "profiler/report/line_levels.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

std::string times(uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

void add_openings(Page &page, const RunResult &result)
{
	uint64_t fewest = UINT64_MAX, most = 0, failed = 0;
	std::vector<std::string> of_blocks;
	for (const CellResult &cell : result.cells) {
		failed += cell.openings.failed;
		if (cell.openings.count == 0)
			continue;
		fewest = std::min(fewest, cell.openings.count);
		most = std::max(most, cell.openings.count);
		if (!cell.openings.carry_intervals())
			of_blocks.push_back(model::title(cell.cell));
	}
	if (most == 0)
		return;
	std::string text = fewest == most
						   ? fmt::format("each cell was measured in fresh processes {}", times(most))
						   : fmt::format("cells were measured in fresh processes {} to {} times", fewest, most);
	if (failed > 0)
		text += fmt::format(" · {} failed", failed);
	if (most < stats::kMinBlocks)
		text += " · intervals are over blocks of the same processes: another run may differ by more";
	else if (!of_blocks.empty())
		text +=
			fmt::format(" · intervals of {}{} are over blocks of the same processes: another run may differ by more",
						of_blocks[0], of_blocks.size() > 1 ? fmt::format(" and {} more", of_blocks.size() - 1) : "");
	page.paragraph("openings", text);
}

// The slower one of the run's CPUs.
std::string slowest(const std::vector<model::CpuWake> &wakes)
{
	const auto wake = std::ranges::max_element(wakes, {}, &model::CpuWake::p50_ns);
	return wake == wakes.end() ? "" : duration(static_cast<double>(wake->p50_ns));
}

void add_machine_state(Page &page, const RunResult &result)
{
	std::string text;
	if (const std::string begin = slowest(result.head.wakes); !begin.empty()) {
		text = fmt::format("a sleeping thread ran again after {}", begin);
		if (const std::string end = result.tail ? slowest(result.tail->wakes) : ""; !end.empty())
			text += fmt::format(" before the first block and {} after the last", end);
		text += ", on the slower CPU";
		if (const std::string held = slowest(result.head.wakes_held); !held.empty())
			text += fmt::format(", by the machine's own idle states; after {} with CPUs kept awake", held);
	}
	if (result.tail && result.tail->steal && result.tail->steal->of_ns > 0)
		text += fmt::format(
			"{}the hypervisor took {} of the CPUs' time in blocks", text.empty() ? "" : " · ",
			percent(static_cast<double>(result.tail->steal->ns) / static_cast<double>(result.tail->steal->of_ns)));
	for (const model::CacheLine &line : result.tail ? result.tail->cache_lines : std::vector<model::CacheLine>())
		if (const std::vector<LineLevel> levels = levels_of(line); levels.size() == 1)
			text += fmt::format("{}a cache line {}", text.empty() ? "" : " · ", levels_text(line, levels));
	if (!text.empty())
		page.paragraph("machine", text);
}

} // namespace

void add_run_state(Page &page, const RunResult &result)
{
	add_openings(page, result);
	add_machine_state(page, result);
	page.line();
}

} // namespace icepath::report
