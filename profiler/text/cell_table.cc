// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/cell_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "profiler/analysis/cell_groups.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/cell_columns.h"
#include "profiler/text/columns.h"
#include "profiler/text/mode_words.h"
#include "profiler/text/table.h"
#include "profiler/text/time_scale.h"

namespace icepath::text {
namespace {

constexpr size_t kNarrowestBar = 10, kWidestBar = 60;

std::vector<const analysis::CellResult *> measured(const analysis::RunResult &result)
{
	std::vector<const analysis::CellResult *> cells;
	for (const analysis::CellResult &cell : result.cells)
		if (cell.blocks.probed + cell.blocks.unprobed > 0)
			cells.push_back(&cell);
	return cells;
}

size_t width_of(const Column &column, const Page &page)
{
	size_t width = columns(page.spelled(column.head));
	for (const std::string &cell : column.cells)
		width = std::max(width, columns(page.spelled(cell)));
	for (const std::vector<std::string> &modes : column.modes)
		for (const std::string &mode : modes)
			width = std::max(width, columns(page.spelled(mode)));
	return width;
}

// What a line has room for.
struct Layout {
	size_t label = 0, bar = 0;
	std::string gap = "  ";
	std::vector<Column> columns;
	bool has_modes = true;
};

size_t width_of(const Layout &layout, const Page &page)
{
	size_t width = layout.label + layout.gap.size() + kNarrowestBar;
	for (const Column &column : layout.columns)
		width += layout.gap.size() + width_of(column, page);
	return width;
}

// Fits the page's width, if need be by leaving out columns.
Layout layout_of(const Page &page, std::vector<Column> columns, size_t label, bool all)
{
	Layout layout{label, 0, "  ", std::move(columns)};
	if (width_of(layout, page) > page.width())
		layout.gap = " ";
	while (!all && width_of(layout, page) > page.width()) {
		const auto least = std::ranges::max_element(layout.columns, {}, &Column::dispensable);
		if (least == layout.columns.end() || least->dispensable == 0)
			break;
		layout.columns.erase(least);
	}
	const size_t used = width_of(layout, page) - kNarrowestBar;
	layout.bar = std::clamp(page.width() > used ? page.width() - used : 0, kNarrowestBar, kWidestBar);
	return layout;
}

// "18 ±3 % at", before the place of a mode.
std::string mode_label(const analysis::CellMode &mode)
{
	return fmt::format("    {} at", brief_share_text(mode.share));
}

// Its columns are as wide whatever rows it gets, since each group of cells has a table of its own.
Table table_of(const Layout &layout, const Page &page)
{
	std::vector<TableColumn> its_columns = {{Side::Left, layout.label, 0}};
	for (const Column &column : layout.columns)
		its_columns.push_back({Side::Right, width_of(column, page), layout.gap.size(), column.is_doubtful});
	return Table(std::move(its_columns));
}

// `text_of`: of a column.
template <typename TextOf>
void add_row(Table &table, const std::string &label, const Layout &layout, TextOf text_of, const std::string &rest)
{
	std::vector<std::string> texts = {label};
	std::ranges::transform(layout.columns, std::back_inserter(texts), text_of);
	table.add(std::move(texts), layout.gap + rest);
}

void add_mode_rows(Table &table, const analysis::CellResult &result, size_t cell, const Layout &layout,
				   TimeScale &scale, const Look &look)
{
	for (size_t mode = 0; mode < result.modes.all.size(); ++mode)
		add_row(
			table, mode_label(result.modes.all[mode]), layout,
			[&](const Column &column) { return column.modes.empty() ? "" : column.modes[cell][mode]; },
			scale.bar(result, result.modes.all[mode], look));
}

void add_rows(Page &page, const analysis::RunResult &result, const analysis::GroupedCells &grouped,
			  const Layout &layout, TimeScale &scale)
{
	Table heads = table_of(layout, page);
	add_row(heads, "one way, µs", layout, &Column::head, page.spelled(scale.axis()));
	heads.add_to(page);
	for (const analysis::CellGroup &group : grouped.groups) {
		page.heading(group.heading);
		Table table = table_of(layout, page);
		for (const size_t cell : group.cells) {
			add_row(
				table, "  " + grouped.labels[cell], layout, [&](const Column &column) { return column.cells[cell]; },
				scale.bar(result.cells[cell], page.look()));
			if (layout.has_modes)
				add_mode_rows(table, result.cells[cell], cell, layout, scale, page.look());
		}
		table.add_to(page);
	}
}

void add_legend(Page &page, const TimeScale &scale)
{
	std::string line;
	size_t taken = 0;
	for (const std::string &entry : scale.legend(page.look())) {
		const size_t needed = columns(entry) - (page.look().colour ? columns("\033[38;5;000m\033[0m") - 1 : 0);
		if (taken > 0 && taken + 2 + needed > page.width()) {
			page.line(line);
			line.clear();
			taken = 0;
		}
		line += (taken > 0 ? "  " : "") + entry;
		taken += needed + (taken > 0 ? 2 : 0);
	}
	if (!line.empty())
		page.line(line);
}

// Every latency above includes the cost of the stamps, which readers would take for the target's. The latency of `null`
// shows it only where each message is alone; otherwise that is mostly waiting for the message before.
void add_floor(Page &page, const std::vector<const analysis::CellResult *> &cells)
{
	std::string target;
	std::array<std::string, std::size(model::kPatternNames)> floors; // by pattern
	std::array<bool, floors.size()> measured{};
	for (const analysis::CellResult *cell : cells) {
		const model::Pattern pattern = cell->cell.pattern;
		const auto index = static_cast<size_t>(pattern);
		measured[index] = true;
		const bool under_another = std::ranges::any_of(cells, [&](const analysis::CellResult *other) {
			return !analysis::is_floor(other->cell) && other->cell.pattern == pattern &&
				   model::between(other->cell) == model::between(cell->cell) &&
				   other->cell.payload_bytes == cell->cell.payload_bytes;
		});
		const bool alone = pattern == model::Pattern::PingPong || pattern == model::Pattern::OneWay;
		if (!analysis::is_floor(cell->cell) || !alone || !under_another || !cell->times.latency.percentiles[0])
			continue;
		target = cell->cell.target;
		floors[index] += fmt::format("{}{} µs at {}", floors[index].empty() ? "" : ", ",
									 stats::microseconds(static_cast<double>(*cell->times.latency.percentiles[0])),
									 model::payload_text(cell->cell.payload_bytes));
		if (model::between(cell->cell) != model::Between::Processes)
			floors[index] += fmt::format(" {}", model::name(model::between(cell->cell)));
	}
	const bool one_pattern = std::ranges::count(measured, true) == 1;
	std::string text;
	for (size_t i = 0; i < floors.size(); ++i)
		if (!floors[i].empty())
			text += fmt::format("{}{}{}", text.empty() ? "" : " · ",
								one_pattern ? "" : fmt::format("{} ", model::kPatternNames[i]), floors[i]);
	if (!text.empty())
		page.paragraph("floor", fmt::format("{} (stamps alone): {}", target, text));
}

void add_cells(Page &page, const analysis::RunResult &result, const MeasuredCells &cells, bool all, bool has_modes)
{
	const analysis::GroupedCells grouped = analysis::grouped_cells(result);
	size_t label = columns("one way, µs");
	for (const analysis::CellGroup &group : grouped.groups)
		for (const size_t cell : group.cells) {
			label = std::max(label, 2 + columns(page.spelled(grouped.labels[cell])));
			for (const analysis::CellMode &mode : result.cells[cell].modes.all)
				label = std::max(label, columns(page.spelled(mode_label(mode))));
		}
	std::vector<Column> its_columns = columns_of(result, cells, all);
	if (!has_modes)
		for (Column &column : its_columns)
			column.modes.clear();
	Layout layout = layout_of(page, std::move(its_columns), label, all);
	layout.has_modes = has_modes;
	TimeScale scale(cells, layout.bar);
	add_rows(page, result, grouped, layout, scale);
	add_legend(page, scale);
	page.paragraph("", reading_of(result, cells, layout.columns, scale, all), 0);
	if (all)
		add_floor(page, cells);
	page.line();
}

} // namespace

void add_cell_table(Page &page, const analysis::RunResult &result, bool all, size_t most_lines)
{
	const auto cells = measured(result);
	if (cells.empty()) {
		page.line("nothing was measured");
		page.line();
		return;
	}
	Page table(page.look(), page.width());
	add_cells(table, result, cells, all, true);
	if (table.lines() <= most_lines)
		return page.add(std::move(table));
	add_cells(page, result, cells, all, false);
}

} // namespace icepath::text
