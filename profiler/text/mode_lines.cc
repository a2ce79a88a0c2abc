// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/mode_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/explain/mode_difference.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/difference_table.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

std::string ends_text(const analysis::LatencyRange &range)
{
	const auto us = [](uint64_t ns) { return stats::microseconds(static_cast<double>(ns)); };
	if (range.from_ns == 0)
		return fmt::format("to {}", us(range.to_ns));
	return range.to_ns == UINT64_MAX ? fmt::format("from {}", us(range.from_ns))
									 : fmt::format("{} to {}", us(range.from_ns), us(range.to_ns));
}

std::string layers_of(const analysis::CellMode &mode)
{
	if (!mode.seen_with_probes())
		return "not seen with probes";
	std::string text;
	for (const auto &[layer, row] : mode.range.layers.by_layer())
		if (row.mean_ns >= 0.01 * mode.range.layers.mean_ns())
			text +=
				fmt::format("{}{} {}", text.empty() ? "" : " · ", model::name(layer), stats::microseconds(row.mean_ns));
	return text;
}

void add_cell(Page &page, const analysis::CellResult &cell)
{
	page.paragraph("", fmt::format("{}: {}", model::title(cell.cell), p50_text(cell)), 2);
	constexpr TableColumn kRight{Side::Right};
	Table table({{Side::Right, 0, 4}, kRight, kRight, kRight, kRight});
	table.add({"mode", "p50", "range", "share", "with probes"});
	for (size_t i = 0; i < cell.modes.all.size(); ++i) {
		const analysis::CellMode &mode = cell.modes.all[i];
		table.add({fmt::format("{}", i + 1), stats::percentile_text(mode.latency, 0), ends_text(mode.range),
				   share_text(mode.share), share_text(mode.share_probed)});
	}
	table.add_to(page);
	for (size_t i = 0; i < cell.modes.all.size(); ++i)
		page.paragraph("", fmt::format("mode {}: {}", i + 1, layers_of(cell.modes.all[i])), 4);
	if (const std::string probes = probes_text(cell); !probes.empty())
		page.paragraph("", probes, 4);
}

} // namespace

void add_mode_lines(Page &page, const std::vector<analysis::CellResult> &cells)
{
	if (std::ranges::all_of(cells, [](const analysis::CellResult &cell) { return cell.modes.all.empty(); }))
		return;
	page.heading("modes of messages: µs and shares without probes, mean layers with them");
	for (const analysis::CellResult &cell : cells)
		if (!cell.modes.all.empty())
			add_cell(page, cell);
	page.line();
}

void add_mode_differences(Page &page, const analysis::CellResult &cell)
{
	page.heading(model::title(cell.cell));
	page.paragraph("modes", cell.modes.all.empty() ? "this run shows one" : modes_sentence(cell));
	const std::vector<explain::ModeDifference> differences = explain::mode_differences(cell);
	std::string probes = probes_text(cell);
	if (!differences.empty())
		probes += fmt::format("{}they add {} to the p50. What follows is of messages with them: in which modes and "
							  "layers that lies isn't known",
							  probes.empty() ? "" : "; ",
							  cell.observer_effect.p50 ? stats::effect_text(cell.observer_effect.p50) + " µs"
													   : "an unknown time");
	if (!probes.empty())
		page.paragraph("probes", probes);
	for (const explain::ModeDifference &modes : differences)
		add_difference(page, modes.of,
					   {fmt::format("mode {}", modes.slow + 1), fmt::format("mode {}", modes.fast + 1), "difference",
						"of difference", true});
	page.line();
}

} // namespace icepath::text
