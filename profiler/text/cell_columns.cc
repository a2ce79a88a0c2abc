// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/cell_columns.h"

#include <algorithm>
#include <fmt/format.h>

#include "icepath/plugin.h"
#include "profiler/analysis/cell_result.h"
#include "profiler/explain/leading_figure.h"
#include "profiler/explain/trust.h"
#include "profiler/stats/far_tail.h"
#include "profiler/stats/quantity.h"

namespace icepath::text {
namespace {

std::string cpu_text(const analysis::CellResult &cell)
{
	if (!cell.used.cpu_per_message)
		return kNothing;
	double sum = 0;
	for (const analysis::CpuTime &side : *cell.used.cpu_per_message)
		sum += side.total_ns();
	sum += cell.used.daemon_cpu_ns_per_message.value_or(0);
	return stats::microseconds(sum);
}

// Shows whether a fan-in treats its senders alike: the best and the worst p50 of a sender.
std::string senders_text(const analysis::CellResult &cell)
{
	if (model::senders_of(cell.cell) == 1)
		return kNothing;
	std::optional<uint64_t> best, worst;
	for (const stats::Distribution &sender : cell.times.by_flow) {
		const auto &p50 = sender.percentiles[0];
		if (!p50)
			return kNothing;
		best = std::min(best.value_or(*p50), *p50);
		worst = std::max(worst.value_or(*p50), *p50);
	}
	return best ? fmt::format("{}..{}", stats::microseconds(static_cast<double>(*best)),
							  stats::microseconds(static_cast<double>(*worst)))
				: kNothing;
}

std::string found_text(const rate::FoundRate &found)
{
	if (!found.hz)
		return kNothing;
	if (!found.failed_hz)
		return "≥" + stats::per_second(*found.hz);
	if (!found.low_hz || !found.high_hz)
		return stats::per_second(*found.hz) + " ±?";
	const double half = (*found.high_hz - *found.low_hz) / 2 / *found.hz;
	return stats::per_second(*found.hz) + (half < 1 ? fmt::format(" ±{:.0f}%", std::max(1.0, half * 100)) : " ±>100%");
}

// Only for patterns whose rate isn't set or given by their turns.
std::string rate_text(const analysis::CellResult &cell)
{
	if (cell.search)
		return found_text(cell.search->found);
	const bool is_load = cell.cell.pattern == model::Pattern::Throughput || cell.cell.pattern == model::Pattern::Burst;
	return is_load && cell.throughput.received_per_s ? stats::per_second(*cell.throughput.received_per_s) : kNothing;
}

// Meaning of the rate column. All cells of a run have the same limits.
std::string rate_reading(const MeasuredCells &cells)
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
					   limits.max_loss > 0 ? stats::percent(limits.max_loss) + " lost" : "nothing lost",
					   stats::duration(static_cast<double>(limits.max_p99_ns)),
					   confirmed ? "fresh blocks after the search"
								 : "the search's own blocks, because too few followed");
}

// By the cell's index; nullptr: it isn't ranked.
std::vector<const analysis::RankedCell *> ranked_cells(const analysis::RunResult &result)
{
	std::vector<const analysis::RankedCell *> cells(result.cells.size());
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::RankedCell &cell : group.cells)
			if (group.cells.size() > 1)
				cells[cell.cell] = &cell;
	return cells;
}

bool is_first(const analysis::RunResult &result, const analysis::RankedCell &cell)
{
	return std::ranges::any_of(
		result.ranking, [&](const analysis::RankedGroup &group) { return group.cells.front().cell == cell.cell; });
}

std::string rank_reading(const analysis::RunResult &result)
{
	const auto ranked = [](const analysis::RankedGroup &group) { return group.cells.size() > 1; };
	size_t pairs = 0, told_apart = 0;
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::ComparedPair &pair : group.pairs) {
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

std::string rank_text(const analysis::RankedCell &cell)
{
	if (!cell.rank)
		return kNothing;
	return cell.rank->first == cell.rank->last ? fmt::format("{}", cell.rank->first)
											   : fmt::format("{}–{}", cell.rank->first, cell.rank->last);
}

// The first range of ranks that stands in the table, such as "2–3".
std::optional<std::string> first_tie(const analysis::RunResult &result)
{
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::RankedCell &cell : group.cells)
			if (cell.rank && cell.rank->first < cell.rank->last)
				return rank_text(cell);
	return std::nullopt;
}

std::string to_fastest_text(const analysis::RankedCell &cell)
{
	if (!cell.to_fastest)
		return kNothing;
	const auto &[low, high] = cell.to_fastest->interval;
	const double half = (high - low) / 2;
	if (stats::is_lopsided(cell.to_fastest->ratio, cell.to_fastest->interval))
		return fmt::format("{:.2f} {:.2f}..{:.2f}", cell.to_fastest->ratio, low, high);
	return fmt::format("{:.2f}", cell.to_fastest->ratio) +
		   (half < cell.to_fastest->ratio ? fmt::format(" ±{:.2f}", half) : " ±>100%");
}

bool says_something(const Column &column, const MeasuredCells &cells, const analysis::RunResult &result)
{
	return std::ranges::any_of(cells, [&](const analysis::CellResult *cell) {
		return column.cells[static_cast<size_t>(cell - result.cells.data())] != kNothing;
	});
}

// "9.29 ± 8%" or "9.29 9.02..14.1", short enough for a glance.
std::string brief_percentile(const stats::Distribution &distribution, size_t which)
{
	if (!distribution.percentiles[which] || !distribution.intervals[which])
		return kNothing;
	const auto ns = static_cast<double>(*distribution.percentiles[which]);
	const double half = stats::relative_half(distribution, which).value_or(0);
	if (stats::is_lopsided(ns, *distribution.intervals[which]))
		return stats::microseconds(ns) + " " + stats::range_text(*distribution.intervals[which]);
	return stats::microseconds(ns) + (half < 1 ? fmt::format(" ±{:2.0f}%", half * 100) : " ±>100%");
}

// Whether messages were sent later than most took to arrive.
bool paces_badly(const analysis::CellResult &cell)
{
	return cell.times.pacing.percentiles[2] && cell.times.latency.percentiles[0] &&
		   *cell.times.pacing.percentiles[2] > *cell.times.latency.percentiles[0];
}

} // namespace

std::vector<Column> columns_of(const analysis::RunResult &result, const MeasuredCells &measured, bool all)
{
	const std::vector<const analysis::RankedCell *> ranked = ranked_cells(result);
	const auto any = [&](const auto &is) {
		return std::ranges::any_of(measured, [&](const analysis::CellResult *cell) { return is(*cell); });
	};
	const bool answered =
		any([](const analysis::CellResult &cell) { return cell.cell.pattern == model::Pattern::ReqRep; });
	const bool lost = any([](const analysis::CellResult &cell) { return cell.messages.lost > 0; });
	const bool is_doubtful = explain::unfit_for_tails(result).has_value();
	Column p50{"p50"}, rank{"rank"}, to_fastest{"× fastest"}, p99{is_doubtful ? "(p99)" : "p99", true, 1},
		p99_9{is_doubtful ? "(p99.9)" : "p99.9", true, 4}, round_trip{"RTT", answered, 3}, to_all{"to all", true, 3},
		senders{"senders", true, 3}, pacing{"pacing", any(paces_badly), 5}, taken{"msg/s"}, cpu{"CPU", true, 2},
		lost_messages{"lost", lost}, probes{"probes", false};
	p99.is_doubtful = p99_9.is_doubtful = is_doubtful;
	const auto percentile = [&](const stats::Distribution &distribution, size_t which) {
		return all ? stats::percentile_text(distribution, which) : brief_percentile(distribution, which);
	};
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const analysis::CellResult &cell = result.cells[i];
		const analysis::RankedCell *place = ranked[i];
		p50.cells.push_back(analysis::lies_between_modes(cell)
								? kNothing
								: (cell.modes.all.empty() ? "" : "*") + percentile(cell.times.latency, 0));
		std::vector<std::string> &places = p50.modes.emplace_back();
		for (const analysis::CellMode &mode : cell.modes.all)
			places.push_back(percentile(mode.latency, 0));
		rank.cells.push_back(place ? rank_text(*place) : kNothing);
		to_fastest.cells.push_back(!place ? kNothing : is_first(result, *place) ? "1" : to_fastest_text(*place));
		p99.cells.push_back(percentile(cell.times.latency, 2));
		p99_9.cells.push_back(percentile(cell.times.latency, 3));
		round_trip.cells.push_back(percentile(cell.times.round_trip, 0));
		to_all.cells.push_back(percentile(cell.times.to_all, 0));
		senders.cells.push_back(senders_text(cell));
		pacing.cells.push_back(percentile(cell.times.pacing, 2));
		taken.cells.push_back(rate_text(cell));
		cpu.cells.push_back(cpu_text(cell));
		lost_messages.cells.push_back(stats::count(cell.messages.lost));
		probes.cells.push_back(stats::effect_text(cell.observer_effect.p50));
	}
	std::vector<Column> columns = {p50};
	if (std::ranges::any_of(result.ranking, [](const analysis::RankedGroup &group) { return !group.pairs.empty(); }))
		columns.insert(columns.end(), {rank, to_fastest});
	for (Column *column :
		 {&p99, &p99_9, &round_trip, &to_all, &senders, &pacing, &taken, &cpu, &lost_messages, &probes})
		if ((all || column->is_brief) && says_something(*column, measured, result))
			columns.push_back(std::move(*column));
	return columns;
}

namespace {

bool has(const std::vector<Column> &columns, const char *head)
{
	return std::ranges::find(columns, head, &Column::head) != columns.end();
}

// Whether a cell's p50 is another number of times that of its group's fastest than "× fastest" says.
bool p50s_say_otherwise(const analysis::RunResult &result)
{
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::RankedCell &cell : group.cells)
			if (cell.to_fastest &&
				explain::other_ratio_by_p50(result, cell.cell, group.cells.front().cell, *cell.to_fastest))
				return true;
	return false;
}

// "±", and what stands for several modes.
std::vector<std::string> readings_of_p50s(const analysis::RunResult &result, const MeasuredCells &cells,
										  const std::vector<Column> &columns, bool all)
{
	// See stats/block_interval.h for their coverage in simulated runs.
	const bool by_opening =
		std::ranges::any_of(cells, [](const analysis::CellResult *cell) { return cell->openings.carry_intervals(); });
	std::vector<std::string> texts = {
		all ? fmt::format("±: half of the 95 % interval over {}; p99's is too narrow for rare events",
						  by_opening ? "openings" : "blocks")
			: "±: half of the 95 % interval"};
	const auto has_modes = [](const analysis::CellResult *cell) { return !cell->modes.all.empty(); };
	const bool any_p50 = std::ranges::any_of(cells, [](const analysis::CellResult *cell) {
		return !cell->modes.all.empty() && !analysis::lies_between_modes(*cell);
	});
	const bool have_rows = std::ranges::any_of(columns, [](const Column &column) { return !column.modes.empty(); });
	if (std::ranges::any_of(cells, has_modes) && !have_rows)
		texts.emplace_back(any_p50 ? "–, *: several modes" : "–: several modes");
	else if (std::ranges::any_of(cells, has_modes))
		texts.push_back(
			std::string(
				all ? "% at: modes of the messages, with their shares and p50s; where another run may have the p50 of "
					  "all of them in another mode, there is none"
					: "% at: modes, with their shares") +
			(any_p50 ? " · *: of all modes" : ""));
	if (has(columns, "(p99)"))
		texts.emplace_back(all ? "(p99): this run isn't fit for tails, see below: partly they are the machine's"
							   : "(p99): not fit for tails");
	if (has(columns, "rank") && !all && (any_p50 || p50s_say_otherwise(result)))
		texts.emplace_back("× fastest: of geometric means");
	return texts;
}

std::vector<std::string> readings_of_columns(const analysis::RunResult &result, const MeasuredCells &cells,
											 const std::vector<Column> &columns, bool all)
{
	std::vector<std::string> texts;
	const std::optional<std::string> tie = first_tie(result);
	if (has(columns, "rank") && (all || tie))
		texts.push_back(all ? rank_reading(result) : fmt::format("rank {}: not told which", *tie));
	for (const auto &[head, meaning] : {std::pair{"RTT", "RTT: p50 of the round trip"},
										{"to all", "to all: p50 of the time until the last receiver had it"},
										{"senders", "senders: p50 of the best and of the worst sender"},
										{"pacing", "pacing: p99 of intended → real send, beside the latency"}})
		if (has(columns, head))
			texts.emplace_back(meaning);
	if (has(columns, "msg/s"))
		texts.push_back(rate_reading(cells));
	size_t beside = 0;
	for (const analysis::CellResult *cell : cells)
		beside = std::max(beside, cell->capture.beside);
	if (beside > 0 && all)
		texts.push_back(fmt::format("sparse: {} cells take turns within each period", beside + 1));
	return texts;
}

std::vector<std::string> readings_of_bars(const MeasuredCells &cells, const TimeScale &scale, bool all)
{
	std::vector<std::string> texts = scale.readings();
	if (std::ranges::any_of(cells,
							[&](const auto *cell) { return cell->cell.idle_states != cells[0]->cell.idle_states; }))
		texts.emplace_back(
			all ? "CPUs kept awake, own idle states: their figures don't compare, as a message pays for waking an idle "
				  "CPU"
				: "CPUs kept awake, own idle states: their figures don't compare");
	if (scale.end_ns() > 0)
		texts.emplace_back(all ? "bars: where the time of typical messages goes (p40 to p60), with probes; as long as "
								 "the p50"
							   : "bars: typical messages, as long as the p50");
	return texts;
}

// Of what only the full report has.
std::vector<std::string> readings_in_full(const MeasuredCells &cells, const std::vector<Column> &columns)
{
	std::vector<std::string> texts;
	const bool has_daemon = std::ranges::any_of(
		cells, [](const analysis::CellResult *cell) { return cell->used.daemon_cpu_ns_per_message.has_value(); });
	if (has(columns, "CPU"))
		texts.push_back(fmt::format("CPU: of both sides{} per message", has_daemon ? " and their daemon" : ""));
	if (has(columns, "probes"))
		texts.emplace_back("probes: what they added to the p50");
	if (std::ranges::any_of(columns, [](const Column &column) {
			return std::ranges::any_of(column.cells, [](const auto &cell) { return cell.ends_with("±?"); });
		}))
		texts.emplace_back("±?: too few blocks to tell");
	texts.push_back(
		fmt::format("{}: not measured, or too few messages or blocks (p99.9 needs {}000 messages in {} blocks)",
					kNothing, stats::kFarBeyond, stats::kFarBeyond));
	return texts;
}

} // namespace

std::string reading_of(const analysis::RunResult &result, const MeasuredCells &cells,
					   const std::vector<Column> &columns, const TimeScale &scale, bool all)
{
	std::string reading;
	for (const auto &texts :
		 {readings_of_p50s(result, cells, columns, all), readings_of_columns(result, cells, columns, all),
		  readings_of_bars(cells, scale, all), all ? readings_in_full(cells, columns) : std::vector<std::string>()})
		for (const std::string &text : texts)
			reading += (reading.empty() ? "" : " · ") + text;
	return reading;
}

} // namespace icepath::text
