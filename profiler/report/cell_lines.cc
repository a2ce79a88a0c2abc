// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/cell_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "profiler/model/cell_title.h"
#include "profiler/report/layer_style.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

constexpr double kLeastShare = 0.005;

// Each layer with its interval, the longest first.
std::string layers_text(const Breakdown &breakdown)
{
	std::vector<LayerRow> longest;
	for (const auto &[layer, row] : breakdown.by_layer())
		if (row.mean_ns >= kLeastShare * breakdown.mean_ns())
			longest.push_back(row);
	std::ranges::stable_sort(longest, std::ranges::greater(), &LayerRow::mean_ns);
	const stats::RedrawnMeans blocks = breakdown.means();
	std::string text = microseconds(breakdown.mean_ns());
	for (const LayerRow &row : longest) {
		const auto interval = blocks.interval(row.by_block);
		text += fmt::format(" · {} {}{}", model::name(row.layer), microseconds(row.mean_ns),
							interval ? interval_text(row.mean_ns, *interval) : " ±?");
	}
	return text;
}

std::string range_text(const LatencyRange &range)
{
	return fmt::format("{} of {} messages{}, mean {}", count(range.layers.deliveries()), count(range.messages),
					   range.tells_where() ? "" : ", no sample of all", layers_text(range.layers));
}

void add_layers(Page &page, const CellResult &cell)
{
	const auto add = [&](const std::string &what, const std::string &text) {
		page.paragraph("", fmt::format("{}: {}", what, text), 4);
	};
	page.paragraph("",
				   fmt::format("{}: {} of {} messages{}, mean {}", model::title(cell.cell), count(cell.complete()),
							   count(cell.probed), cell.tells_where() ? "" : ", no sample of all",
							   layers_text(cell.layers)),
				   2);
	if (cell.typical && cell.typical->layers.deliveries() > 0)
		add("typical, p40 to p60", range_text(*cell.typical));
	if (cell.tail && cell.tail->layers.deliveries() > 0)
		add("tail, from p99 on", range_text(*cell.tail));
	if (cell.blocks_log_full > 0)
		add("ended early", fmt::format("{} of {} blocks with probes, as a CPU's log was nearly full",
									   count(cell.blocks_log_full), count(cell.blocks_probed)));
}

void add_probe_cost(Page &page, const CellResult &cell)
{
	const ObserverEffect &effect = cell.observer_effect;
	page.paragraph("",
				   fmt::format("{}: p50 {} · mean {} · p99 {}", model::title(cell.cell), effect_text(effect.p50),
							   effect_text(effect.mean), effect_text(effect.p99)),
				   2);
}

void add_from_due(Page &page, const CellResult &cell)
{
	page.paragraph("",
				   fmt::format("{}: p50 {} · p99 {} · p99.9 {}", model::title(cell.cell),
							   percentile_text(cell.from_due, 0), percentile_text(cell.from_due, 2),
							   percentile_text(cell.from_due, 3)),
				   2);
}

template <typename Has, typename Add>
void add_section(Page &page, const std::string &heading, const std::vector<CellResult> &cells, Has has, Add add)
{
	if (std::ranges::none_of(cells, has))
		return;
	page.heading(heading);
	for (const CellResult &cell : cells)
		if (has(cell))
			add(page, cell);
	page.line();
}

} // namespace

void add_cell_lines(Page &page, const std::vector<CellResult> &cells)
{
	add_section(
		page, "layers of a message: mean µs, with probes", cells,
		[](const CellResult &cell) { return cell.complete() > 0; }, add_layers);
	add_section(
		page, "what probes added to a latency, in µs", cells,
		[](const CellResult &cell) { return cell.observer_effect.p50.has_value(); }, add_probe_cost);
	add_section(
		page, "latency from when a message was due, in µs", cells,
		[](const CellResult &cell) { return cell.from_due.count > 0; }, add_from_due);
}

namespace {

using model::Counters;

// A single thread's counts are in the first end.
std::span<const SideCounters> counted_sides(const CellResult &cell)
{
	const std::span all(cell.counters.ends);
	return model::between(cell.cell) == model::Between::OneThread ? all.first(1) : all;
}

// Of both sides, as CPU time is: with one side missing, the half would be taken for all.
std::string per_message(const CellResult &cell, model::Count Counters::*count)
{
	double sum = 0;
	for (const SideCounters &side : counted_sides(cell)) {
		const auto one = side.of(count).per_message();
		if (!one)
			return "–";
		sum += *one;
	}
	return amount(sum);
}

double smallest_share(const CellResult &cell)
{
	double smallest = 1;
	for (const SideCounters &side : cell.counters.ends)
		for (const CounterTotal &total : side.totals)
			smallest = std::min(smallest, total.running_share().value_or(1));
	return smallest;
}

} // namespace

void add_counter_table(Page &page, const std::vector<CellResult> &cells)
{
	constexpr size_t kColumns = 4;
	std::vector<std::array<std::string, kColumns>> rows = {{"", "instructions", "IPC", "cache misses"}};
	bool user_only = false;
	double share = 1;
	for (const CellResult &cell : cells) {
		const auto &[sender, receiver] = cell.counters.ends;
		if (!sender.has_hardware() && !receiver.has_hardware())
			continue;
		const auto ipc = counted_sides(cell).size() == 1 ? instructions_per_cycle({&sender})
														 : instructions_per_cycle({&sender, &receiver});
		rows.push_back({model::title(cell.cell), per_message(cell, &Counters::instructions),
						ipc ? fmt::format("{:.2f}", *ipc) : "–", per_message(cell, &Counters::cache_misses)});
		user_only = user_only || sender.user_only || receiver.user_only;
		share = std::min(share, smallest_share(cell));
	}
	if (rows.size() == 1)
		return;
	std::array<size_t, kColumns> widths{};
	for (const auto &row : rows)
		for (size_t i = 0; i < kColumns; ++i)
			widths[i] = std::max(widths[i], columns(row[i]));
	page.heading(fmt::format("counted by the CPU per message, both sides, {}, in blocks of their own",
							 user_only ? "user mode only" : "user and kernel mode"));
	for (const auto &row : rows) {
		std::string line = "  " + pad_right(row[0], widths[0]);
		for (size_t i = 1; i < kColumns; ++i)
			line += "  " + pad_left(row[i], widths[i]);
		page.line(page.spelled(line));
	}
	if (share < 1)
		page.line(page.spelled(
			fmt::format("  scaled: the counters had to take turns, and some counted {} of the time", percent(share))));
	page.line();
}

} // namespace icepath::report
