// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/cell_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "icepath/plugin.h"
#include "profiler/model/cell_title.h"
#include "profiler/report/cell_groups.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/quantity.h"
#include "profiler/report/time_scale.h"
#include "profiler/report/trust.h"
#include "profiler/stats/far_tail.h"

namespace icepath::report {
namespace {

constexpr const char *kNothing = "–";
constexpr size_t kNarrowestBar = 10, kWidestBar = 60;

// One column, with a text for each cell of the run.
struct Column {
	std::string head;
	// Whether a report on one screen has it. One that is too wide loses the columns with the largest number first;
	// those of 0 never.
	bool is_brief = true;
	int dispensable = 0;
	std::vector<std::string> cells = {};
	std::vector<std::vector<std::string>> modes = {}; // of each cell, below its own text
	bool is_doubtful = false; // this run isn't fit for it
};

std::string cpu_text(const CellResult &cell)
{
	if (!cell.cpu_per_message)
		return kNothing;
	double sum = 0;
	for (const CpuTime &side : *cell.cpu_per_message)
		sum += side.total_ns();
	sum += cell.daemon_cpu_ns_per_message.value_or(0);
	return microseconds(sum);
}

// Shows whether a fan-in treats its senders alike: the best and the worst p50 of a sender.
std::string senders_text(const CellResult &cell)
{
	if (model::senders_of(cell.cell) == 1)
		return kNothing;
	std::optional<uint64_t> best, worst;
	for (const stats::Distribution &sender : cell.by_flow) {
		const auto &p50 = sender.percentiles[0];
		if (!p50)
			return kNothing;
		best = std::min(best.value_or(*p50), *p50);
		worst = std::max(worst.value_or(*p50), *p50);
	}
	return best ? fmt::format("{}..{}", microseconds(static_cast<double>(*best)),
							  microseconds(static_cast<double>(*worst)))
				: kNothing;
}

std::string found_text(const rate::FoundRate &found)
{
	if (!found.hz)
		return kNothing;
	if (!found.failed_hz)
		return "≥" + per_second(*found.hz);
	if (!found.low_hz || !found.high_hz)
		return per_second(*found.hz) + " ±?";
	const double half = (*found.high_hz - *found.low_hz) / 2 / *found.hz;
	return per_second(*found.hz) + (half < 1 ? fmt::format(" ±{:.0f}%", std::max(1.0, half * 100)) : " ±>100%");
}

// Only for patterns whose rate isn't set or given by their turns.
std::string rate_text(const CellResult &cell)
{
	if (cell.search)
		return found_text(cell.search->found);
	const bool is_load = cell.cell.pattern == model::Pattern::Throughput || cell.cell.pattern == model::Pattern::Burst;
	return is_load && cell.throughput.received_per_s ? per_second(*cell.throughput.received_per_s) : kNothing;
}

// Meaning of the rate column. All cells of a run have the same limits.
std::string rate_reading(const std::vector<const CellResult *> &cells)
{
	std::string reading;
	const auto search = std::ranges::find_if(cells, [](const auto *cell) { return cell->search.has_value(); });
	if (std::ranges::any_of(cells, [](const auto *cell) { return !cell->search && rate_text(*cell) != kNothing; }))
		reading = "msg/s: received, with sending as fast as possible";
	if (search == cells.end())
		return reading;
	if (!reading.empty())
		reading += " · ";
	const model::RateLimits &limits = *(*search)->cell.limits;
	const bool confirmed = std::ranges::all_of(
		cells, [](const auto *cell) { return !cell->search || cell->search->confirmed_by_enough(); });
	return reading +
		   fmt::format("msg/s{}: the highest rate that most blocks held, with {} and a p99 of {} at most from when "
					   "a message was due; the other columns are of that rate, latency from when it was sent, of {}",
					   reading.empty() ? "" : " of max-rate",
					   limits.max_loss > 0 ? percent(limits.max_loss) + " lost" : "nothing lost",
					   duration(static_cast<double>(limits.max_p99_ns)),
					   confirmed ? "fresh blocks after the search"
								 : "the search's own blocks, because too few followed");
}

std::vector<const CellResult *> measured(const RunResult &result)
{
	std::vector<const CellResult *> cells;
	for (const CellResult &cell : result.cells)
		if (cell.blocks_probed + cell.blocks_unprobed > 0)
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

std::string cell_text(const Column &column, const std::string &text, const Page &page)
{
	const std::string padded = pad_left(page.spelled(text), width_of(column, page));
	return column.is_doubtful && page.look().colour ? "\033[2m" + padded + "\033[0m" : padded;
}

// What a line has room for.
struct Layout {
	size_t label = 0, bar = 0;
	std::string gap = "  ";
	std::vector<Column> columns;
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

void trim(std::string &line) { line.erase(line.find_last_not_of(' ') + 1); }

// "18 ±3 % at", before the place of a mode.
std::string mode_label(const CellMode &mode) { return fmt::format("    {} at", brief_share_text(mode.share)); }

void add_mode_rows(Page &page, const CellResult &result, size_t cell, const Layout &layout, TimeScale &scale)
{
	for (size_t mode = 0; mode < result.modes.size(); ++mode) {
		std::string line = pad_right(page.spelled(mode_label(result.modes[mode])), layout.label);
		for (const Column &column : layout.columns)
			line += layout.gap + cell_text(column, column.modes.empty() ? "" : column.modes[cell][mode], page);
		line += layout.gap + scale.bar(result, result.modes[mode], page.look());
		trim(line);
		page.line(line);
	}
}

void add_rows(Page &page, const RunResult &result, const GroupedCells &grouped, const Layout &layout, TimeScale &scale)
{
	const std::string indent = "  ";
	std::string head = pad_right(page.spelled("one way, µs"), layout.label);
	for (const Column &column : layout.columns)
		head += layout.gap + cell_text(column, column.head, page);
	head += layout.gap + page.spelled(scale.axis());
	trim(head);
	page.line(head);
	for (const CellGroup &group : grouped.groups) {
		page.heading(group.heading);
		for (const size_t cell : group.cells) {
			std::string line = pad_right(page.spelled(indent + grouped.labels[cell]), layout.label);
			for (const Column &column : layout.columns)
				line += layout.gap + cell_text(column, column.cells[cell], page);
			line += layout.gap + scale.bar(result.cells[cell], page.look());
			trim(line);
			page.line(line);
			add_mode_rows(page, result.cells[cell], cell, layout, scale);
		}
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
void add_floor(Page &page, const std::vector<const CellResult *> &cells)
{
	std::string target;
	std::array<std::string, std::size(model::kPatternNames)> floors; // by pattern
	std::array<bool, floors.size()> measured{};
	for (const CellResult *cell : cells) {
		const model::Pattern pattern = cell->cell.pattern;
		const auto index = static_cast<size_t>(pattern);
		measured[index] = true;
		const bool under_another = std::ranges::any_of(cells, [&](const CellResult *other) {
			return !is_floor(other->cell) && other->cell.pattern == pattern &&
				   model::between(other->cell) == model::between(cell->cell) &&
				   other->cell.payload_bytes == cell->cell.payload_bytes;
		});
		const bool alone = pattern == model::Pattern::PingPong || pattern == model::Pattern::OneWay;
		if (!is_floor(cell->cell) || !alone || !under_another || !cell->latency.percentiles[0])
			continue;
		target = cell->cell.target;
		floors[index] += fmt::format("{}{} µs at {}", floors[index].empty() ? "" : ", ",
									 microseconds(static_cast<double>(*cell->latency.percentiles[0])),
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

// By the cell's index; nullptr: it isn't ranked.
std::vector<const RankedCell *> ranked_cells(const RunResult &result)
{
	std::vector<const RankedCell *> cells(result.cells.size());
	for (const RankedGroup &group : result.ranking)
		for (const RankedCell &cell : group.cells)
			if (group.cells.size() > 1)
				cells[cell.cell] = &cell;
	return cells;
}

bool is_first(const RunResult &result, const RankedCell &cell)
{
	return std::ranges::any_of(result.ranking,
							   [&](const RankedGroup &group) { return group.cells.front().cell == cell.cell; });
}

bool has_tie(const RunResult &result)
{
	return std::ranges::any_of(result.ranking, [](const RankedGroup &group) {
		return std::ranges::any_of(
			group.cells, [](const RankedCell &cell) { return cell.rank && cell.rank->first < cell.rank->last; });
	});
}

std::string rank_reading(const RunResult &result)
{
	const auto ranked = [](const RankedGroup &group) { return group.cells.size() > 1; };
	size_t pairs = 0, told_apart = 0;
	for (const RankedGroup &group : result.ranking)
		for (const ComparedPair &pair : group.pairs) {
			++pairs;
			told_apart += pair.told_apart() ? 1 : 0;
		}
	return fmt::format(
		"rank, × fastest: by ratios within rounds, of geometric means of all messages but the fastest and slowest "
		"tenths{}; {} of {} pairs are told apart, which is corrected for their number, as intervals aren't; 2–3: this "
		"run doesn't tell "
		"which of these places",
		std::ranges::count_if(result.ranking, ranked) > 1 ? ", among cells of one pattern, wait, size and load" : "",
		told_apart, pairs);
}

std::string rank_text(const RankedCell &cell)
{
	if (!cell.rank)
		return kNothing;
	return cell.rank->first == cell.rank->last ? fmt::format("{}", cell.rank->first)
											   : fmt::format("{}–{}", cell.rank->first, cell.rank->last);
}

std::string to_fastest_text(const RankedCell &cell)
{
	if (!cell.to_fastest)
		return kNothing;
	const auto &[low, high] = cell.to_fastest->interval;
	const double half = (high - low) / 2;
	if (is_lopsided(cell.to_fastest->ratio, cell.to_fastest->interval))
		return fmt::format("{:.2f} {:.2f}..{:.2f}", cell.to_fastest->ratio, low, high);
	return fmt::format("{:.2f}", cell.to_fastest->ratio) +
		   (half < cell.to_fastest->ratio ? fmt::format(" ±{:.2f}", half) : " ±>100%");
}

bool says_something(const Column &column, const std::vector<const CellResult *> &cells, const RunResult &result)
{
	return std::ranges::any_of(cells, [&](const CellResult *cell) {
		return column.cells[static_cast<size_t>(cell - result.cells.data())] != kNothing;
	});
}

// "9.29 ± 8%" or "9.29 9.02..14.1", short enough for a glance.
std::string brief_percentile(const stats::Distribution &distribution, size_t which)
{
	if (!distribution.percentiles[which] || !distribution.intervals[which])
		return kNothing;
	const auto ns = static_cast<double>(*distribution.percentiles[which]);
	const double half = relative_half(distribution, which).value_or(0);
	if (is_lopsided(ns, *distribution.intervals[which]))
		return microseconds(ns) + " " + range_text(*distribution.intervals[which]);
	return microseconds(ns) + (half < 1 ? fmt::format(" ±{:2.0f}%", half * 100) : " ±>100%");
}

// Whether messages were sent later than most took to arrive.
bool paces_badly(const CellResult &cell)
{
	return cell.pacing.percentiles[2] && cell.latency.percentiles[0] &&
		   *cell.pacing.percentiles[2] > *cell.latency.percentiles[0];
}

// All columns that some cell has something for.
std::vector<Column> columns_of(const RunResult &result, const std::vector<const CellResult *> &measured, bool all)
{
	const std::vector<const RankedCell *> ranked = ranked_cells(result);
	const auto any = [&](const auto &is) {
		return std::ranges::any_of(measured, [&](const CellResult *cell) { return is(*cell); });
	};
	const bool answered = any([](const CellResult &cell) { return cell.cell.pattern == model::Pattern::ReqRep; });
	const bool lost = any([](const CellResult &cell) { return cell.messages.lost > 0; });
	const bool is_doubtful = !unfit_for_tails(result).empty();
	Column p50{"p50"}, rank{"rank"}, to_fastest{"× fastest"}, p99{is_doubtful ? "(p99)" : "p99", true, 1},
		p99_9{is_doubtful ? "(p99.9)" : "p99.9", true, 4}, round_trip{"RTT", answered, 3}, to_all{"to all", true, 3},
		senders{"senders", true, 3}, pacing{"pacing", any(paces_badly), 5}, taken{"msg/s"}, cpu{"CPU", true, 2},
		lost_messages{"lost", lost}, probes{"probes", false};
	p99.is_doubtful = p99_9.is_doubtful = is_doubtful;
	const auto percentile = [&](const stats::Distribution &distribution, size_t which) {
		return all ? percentile_text(distribution, which) : brief_percentile(distribution, which);
	};
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const CellResult &cell = result.cells[i];
		const RankedCell *place = ranked[i];
		p50.cells.push_back(lies_between_modes(cell) ? kNothing
													 : (cell.modes.empty() ? "" : "*") + percentile(cell.latency, 0));
		std::vector<std::string> &places = p50.modes.emplace_back();
		for (const CellMode &mode : cell.modes)
			places.push_back(percentile(mode.latency, 0));
		rank.cells.push_back(place ? rank_text(*place) : kNothing);
		to_fastest.cells.push_back(!place ? kNothing : is_first(result, *place) ? "1" : to_fastest_text(*place));
		p99.cells.push_back(percentile(cell.latency, 2));
		p99_9.cells.push_back(percentile(cell.latency, 3));
		round_trip.cells.push_back(percentile(cell.round_trip, 0));
		to_all.cells.push_back(percentile(cell.to_all, 0));
		senders.cells.push_back(senders_text(cell));
		pacing.cells.push_back(percentile(cell.pacing, 2));
		taken.cells.push_back(rate_text(cell));
		cpu.cells.push_back(cpu_text(cell));
		lost_messages.cells.push_back(count(cell.messages.lost));
		probes.cells.push_back(effect_text(cell.observer_effect.p50));
	}
	std::vector<Column> columns = {p50};
	if (std::ranges::any_of(result.ranking, [](const RankedGroup &group) { return !group.pairs.empty(); }))
		columns.insert(columns.end(), {rank, to_fastest});
	for (Column *column :
		 {&p99, &p99_9, &round_trip, &to_all, &senders, &pacing, &taken, &cpu, &lost_messages, &probes})
		if ((all || column->is_brief) && says_something(*column, measured, result))
			columns.push_back(std::move(*column));
	return columns;
}

bool has(const Layout &layout, const char *head)
{
	return std::ranges::find(layout.columns, head, &Column::head) != layout.columns.end();
}

// What the columns mean beyond their heads, and what the bars mean.
std::string reading_of(const RunResult &result, const std::vector<const CellResult *> &cells, const Layout &layout,
					   const TimeScale &scale, bool all)
{
	// See stats/block_interval.h for their coverage in simulated runs.
	const bool by_opening =
		std::ranges::any_of(cells, [](const CellResult *cell) { return cell->openings.carry_intervals(); });
	std::string reading = all ? fmt::format("±: half of the 95 % interval over {}; p99's is too narrow for rare events",
											by_opening ? "openings" : "blocks")
							  : "±: half of the 95 % interval";
	const auto add = [&](const std::string &text) { reading += " · " + text; };
	const auto has_modes = [](const CellResult *cell) { return !cell->modes.empty(); };
	const auto has_p50 = [](const CellResult *cell) { return !cell->modes.empty() && !lies_between_modes(*cell); };
	if (std::ranges::any_of(cells, has_modes))
		add(std::string(
				all ? "% at: modes of the messages, with their shares and p50s; where another run may have the p50 of "
					  "all of them in another mode, there is none"
					: "% at: modes, with their shares") +
			(std::ranges::any_of(cells, has_p50) ? " · *: of all modes" : ""));
	if (has(layout, "(p99)"))
		add(all ? "(p99): this run isn't fit for tails, see below: partly they are the machine's"
				: "(p99): not fit for tails");
	if (has(layout, "rank") && !all && std::ranges::any_of(cells, has_p50))
		add("× fastest: of geometric means");
	if (has(layout, "rank") && (all || has_tie(result)))
		add(all ? rank_reading(result) : "rank 2–3: not told which");
	for (const auto &[head, meaning] : {std::pair{"RTT", "RTT: p50 of the round trip"},
										{"to all", "to all: p50 of the time until the last receiver had it"},
										{"senders", "senders: p50 of the best and of the worst sender"},
										{"pacing", "pacing: p99 of intended → real send, beside the latency"}})
		if (has(layout, head))
			add(meaning);
	if (has(layout, "msg/s"))
		add(rate_reading(cells));
	size_t beside = 0;
	for (const CellResult *cell : cells)
		beside = std::max(beside, cell->capture.beside);
	if (beside > 0 && all)
		add(fmt::format("sparse: {} cells take turns within each period", beside + 1));
	for (const std::string &text : scale.readings())
		add(text);
	if (std::ranges::any_of(cells,
							[&](const auto *cell) { return cell->cell.idle_states != cells[0]->cell.idle_states; }))
		add(all ? "CPUs kept awake, own idle states: their figures don't compare, as a message pays for waking an idle "
				  "CPU"
				: "CPUs kept awake, own idle states: their figures don't compare");
	if (scale.end_ns() > 0)
		add(all ? "bars: where the time of typical messages goes (p40 to p60), with probes; as long as the p50"
				: "bars: typical messages, as long as the p50");
	if (!all)
		return reading;
	const bool has_daemon =
		std::ranges::any_of(cells, [](const CellResult *cell) { return cell->daemon_cpu_ns_per_message.has_value(); });
	if (has(layout, "CPU"))
		add(fmt::format("CPU: of both sides{} per message", has_daemon ? " and their daemon" : ""));
	if (has(layout, "probes"))
		add("probes: what they added to the p50");
	if (std::ranges::any_of(layout.columns, [](const Column &column) {
			return std::ranges::any_of(column.cells, [](const auto &cell) { return cell.ends_with("±?"); });
		}))
		add("±?: too few blocks to tell");
	add(fmt::format("{}: not measured, or too few messages or blocks (p99.9 needs {}000 messages in {} blocks)",
					kNothing, stats::kFarBeyond, stats::kFarBeyond));
	return reading;
}

} // namespace

void add_cell_table(Page &page, const RunResult &result, bool all)
{
	const auto cells = measured(result);
	if (cells.empty()) {
		page.line("nothing was measured");
		page.line();
		return;
	}
	const GroupedCells grouped = grouped_cells(result);
	size_t label = columns("one way, µs");
	for (const CellGroup &group : grouped.groups)
		for (const size_t cell : group.cells) {
			label = std::max(label, 2 + columns(page.spelled(grouped.labels[cell])));
			for (const CellMode &mode : result.cells[cell].modes)
				label = std::max(label, columns(page.spelled(mode_label(mode))));
		}
	const Layout layout = layout_of(page, columns_of(result, cells, all), label, all);
	TimeScale scale(cells, layout.bar);
	add_rows(page, result, grouped, layout, scale);
	add_legend(page, scale);
	page.paragraph("", reading_of(result, cells, layout, scale, all), 0);
	if (all)
		add_floor(page, cells);
	page.line();
}

} // namespace icepath::report
