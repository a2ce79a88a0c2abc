// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/counter_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "profiler/model/cell_title.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
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
