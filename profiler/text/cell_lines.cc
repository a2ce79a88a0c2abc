// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/cell_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/columns.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

// The layers of a cell's messages, of typical ones, and of the tail.
struct LayerTableRow {
	std::string name;
	const analysis::Breakdown *layers = nullptr; // nullptr: a cell's title
	uint64_t messages = 0;
	bool tells_where = true; // of all messages
};

std::vector<LayerTableRow> layer_rows(const std::vector<analysis::CellResult> &cells)
{
	std::vector<LayerTableRow> rows;
	for (const analysis::CellResult &cell : cells) {
		if (cell.paths.complete() == 0)
			continue;
		rows.push_back({model::title(cell.cell)});
		rows.push_back({"  all", &cell.paths.layers, cell.paths.deliveries, cell.paths.tells_where()});
		for (const auto &[name, range] :
			 {std::pair<const char *, const std::optional<analysis::LatencyRange> *>{"  typical", &cell.ranges.typical},
			  {"  tail", &cell.ranges.tail}})
			if (*range && (*range)->layers.deliveries() > 0)
				rows.push_back({name, &(*range)->layers, (*range)->messages, (*range)->tells_where()});
	}
	return rows;
}

// Each layer is a column. A CPU that leaves idle while its thread is in the runqueue already has one of its own,
// because that is waking, not waiting for a CPU.
using ColumnKey = std::pair<model::Layer, model::Part>;

std::map<ColumnKey, analysis::LayerRow> sums_of_columns(const analysis::Breakdown &layers)
{
	std::map<ColumnKey, analysis::LayerRow> sums;
	for (const analysis::LayerRow &row : layers.rows()) {
		const bool apart = row.layer == model::Layer::Runqueue && row.part == model::Part::IdleExit;
		const auto [at, is_first] = sums.try_emplace({row.layer, apart ? row.part : model::Part::None}, row);
		if (!is_first)
			at->second.add(row);
	}
	return sums;
}

using TextColumn = std::vector<std::string>; // its head, then a text for each row

std::vector<TextColumn> layer_columns(const std::vector<LayerTableRow> &rows)
{
	std::vector<TextColumn> columns_of_text = {{"messages"}, {"mean"}};
	std::vector<std::map<ColumnKey, analysis::LayerRow>> layers;
	std::set<ColumnKey> used;
	for (const LayerTableRow &row : rows) {
		layers.push_back(row.layers ? sums_of_columns(*row.layers) : std::map<ColumnKey, analysis::LayerRow>());
		columns_of_text[0].push_back(!row.layers ? ""
												 : fmt::format("{}{} of {}", row.tells_where ? "" : "no sample: ",
															   stats::count(row.layers->deliveries()),
															   stats::count(row.messages)));
		columns_of_text[1].push_back(row.layers ? stats::microseconds(row.layers->mean_ns()) : "");
		for (const auto &[key, sum] : layers.back())
			used.insert(key);
	}
	for (const ColumnKey &key : used) {
		const auto &[layer, part] = key;
		TextColumn &column = columns_of_text.emplace_back(
			1, fmt::format("{}{}{}", model::name(layer), part == model::Part::None ? "" : "/",
						   part == model::Part::None ? "" : model::name(part)));
		for (size_t i = 0; i < rows.size(); ++i) {
			const auto found = layers[i].find(key);
			if (found == layers[i].end()) {
				column.emplace_back(rows[i].layers ? "–" : "");
				continue;
			}
			const auto interval = rows[i].layers->means().interval(found->second.by_block);
			column.push_back(stats::microseconds(found->second.mean_ns) +
							 (interval ? stats::interval_text(found->second.mean_ns, *interval) : " ±?"));
		}
	}
	return columns_of_text;
}

size_t width_of(const TextColumn &column, const Page &page)
{
	size_t width = 0;
	for (const std::string &text : column)
		width = std::max(width, columns(page.spelled(text)));
	return width;
}

void add_part(Page &page, const std::vector<LayerTableRow> &rows, size_t label, std::span<const TextColumn> shown)
{
	std::vector<TableColumn> its_columns(1 + shown.size(), {Side::Right});
	its_columns[0] = {Side::Left, label, 0};
	Table table(std::move(its_columns));
	for (size_t i = 0; i <= rows.size(); ++i) {
		if (i > 0 && !rows[i - 1].layers) {
			table.add_line(page.spelled(rows[i - 1].name));
			continue;
		}
		std::vector<std::string> texts = {i > 0 ? rows[i - 1].name : ""};
		for (const TextColumn &column : shown)
			texts.push_back(column[i]);
		table.add(std::move(texts));
	}
	table.add_to(page);
}

// Prints several tables of the same rows if the page isn't wide enough for one.
void add_layer_table(Page &page, const std::vector<analysis::CellResult> &cells)
{
	const std::vector<LayerTableRow> rows = layer_rows(cells);
	if (rows.empty())
		return;
	page.heading("layers of a message: mean µs, with probes; typical: p40 to p60, tail: from p99 on");
	size_t label = 0;
	for (const LayerTableRow &row : rows)
		label = std::max(label, row.layers ? columns(row.name) : 0);
	const std::vector<TextColumn> all = layer_columns(rows);
	for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
		for (size_t used = label; end < all.size(); ++end) {
			used += 2 + width_of(all[end], page);
			if (end > begin && used > page.width())
				break;
		}
		add_part(page, rows, label, std::span(all).subspan(begin, end - begin));
		page.line();
	}
}

void add_probe_cost(Page &page, const analysis::CellResult &cell)
{
	const analysis::ObserverEffect &effect = cell.observer_effect;
	page.paragraph("",
				   fmt::format("{}: p50 {} · mean {} · p99 {}", model::title(cell.cell), stats::effect_text(effect.p50),
							   stats::effect_text(effect.mean), stats::effect_text(effect.p99)),
				   2);
}

void add_ended_early(Page &page, const analysis::CellResult &cell)
{
	page.paragraph("",
				   fmt::format("{}: {} of {}", model::title(cell.cell), stats::count(cell.blocks.log_full),
							   stats::count(cell.blocks.probed)),
				   2);
}

void add_from_due(Page &page, const analysis::CellResult &cell)
{
	page.paragraph("",
				   fmt::format("{}: p50 {} · p99 {} · p99.9 {}", model::title(cell.cell),
							   stats::percentile_text(cell.times.from_due, 0),
							   stats::percentile_text(cell.times.from_due, 2),
							   stats::percentile_text(cell.times.from_due, 3)),
				   2);
}

template <typename Has, typename Add>
void add_section(Page &page, const std::string &heading, const std::vector<analysis::CellResult> &cells, Has has,
				 Add add)
{
	if (std::ranges::none_of(cells, has))
		return;
	page.heading(heading);
	for (const analysis::CellResult &cell : cells)
		if (has(cell))
			add(page, cell);
	page.line();
}

} // namespace

void add_cell_lines(Page &page, const std::vector<analysis::CellResult> &cells)
{
	add_layer_table(page, cells);
	add_section(
		page, "blocks with probes that ended early, as a CPU's log was nearly full", cells,
		[](const analysis::CellResult &cell) { return cell.blocks.log_full > 0; }, add_ended_early);
	add_section(
		page, "what probes added to a latency, in µs", cells,
		[](const analysis::CellResult &cell) { return cell.observer_effect.p50.has_value(); }, add_probe_cost);
	add_section(
		page, "latency from when a message was due, in µs", cells,
		[](const analysis::CellResult &cell) { return cell.times.from_due.count > 0; }, add_from_due);
}

namespace {

using model::Counters;

// A single thread's counts are in the first end.
std::span<const analysis::SideCounters> counted_sides(const analysis::CellResult &cell)
{
	const std::span all(cell.counters.ends);
	return model::between(cell.cell) == model::Between::OneThread ? all.first(1) : all;
}

// The sum of both sides, as for CPU time. Missing if one side is: half of it would be taken for all.
std::string per_message(const analysis::CellResult &cell, model::Count Counters::*count)
{
	double sum = 0;
	for (const analysis::SideCounters &side : counted_sides(cell)) {
		const auto one = side.of(count).per_message();
		if (!one)
			return "–";
		sum += *one;
	}
	return stats::amount(sum);
}

double smallest_share(const analysis::CellResult &cell)
{
	double smallest = 1;
	for (const analysis::SideCounters &side : cell.counters.ends)
		for (const analysis::CounterTotal &total : side.totals)
			smallest = std::min(smallest, total.running_share().value_or(1));
	return smallest;
}

} // namespace

void add_counter_table(Page &page, const std::vector<analysis::CellResult> &cells)
{
	Table table({{}, {Side::Right}, {Side::Right}, {Side::Right}});
	table.add({"", "instructions", "IPC", "cache misses"});
	bool any = false;
	bool user_only = false;
	double share = 1;
	for (const analysis::CellResult &cell : cells) {
		const auto &[sender, receiver] = cell.counters.ends;
		if (!sender.has_hardware() && !receiver.has_hardware())
			continue;
		const auto ipc = counted_sides(cell).size() == 1 ? analysis::instructions_per_cycle({&sender})
														 : analysis::instructions_per_cycle({&sender, &receiver});
		any = true;
		table.add({model::title(cell.cell), per_message(cell, &Counters::instructions),
				   ipc ? fmt::format("{:.2f}", *ipc) : "–", per_message(cell, &Counters::cache_misses)});
		user_only = user_only || sender.user_only || receiver.user_only;
		share = std::min(share, smallest_share(cell));
	}
	if (!any)
		return;
	page.heading(fmt::format("counted by the CPU per message, both sides, {}, in blocks of their own",
							 user_only ? "user mode only" : "user and kernel mode"));
	table.add_to(page);
	if (share < 1)
		page.line(page.spelled(fmt::format("  scaled: the counters had to take turns, and some counted {} of the time",
										   stats::percent(share))));
	page.line();
}

} // namespace icepath::text
