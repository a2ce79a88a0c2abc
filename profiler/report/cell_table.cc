// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/cell_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "icepath/plugin.h"
#include "profiler/model/cell_title.h"
#include "profiler/report/quantity.h"
#include "profiler/stats/far_tail.h"

namespace icepath::report {
namespace {

// One column, filled row by row.
struct Column {
	std::string head;
	bool right = true;
	std::vector<std::string> cells = {};
};

std::string cpu_text(const CellResult &cell)
{
	if (!cell.cpu_per_message)
		return "–";
	double sum = 0;
	for (const CpuTime &side : *cell.cpu_per_message)
		sum += side.total_ns();
	sum += cell.daemon_cpu_ns_per_message.value_or(0);
	return microseconds(sum);
}

std::string size_text(const model::Cell &cell)
{
	return model::payload_text(cell.payload_bytes) + (cell.parts > 1 ? fmt::format(" in {}", cell.parts) : "");
}

std::string target_text(const model::Cell &cell)
{
	std::string text = cell.target;
	if (model::between(cell) != model::Between::Processes)
		text += fmt::format(" {}", model::name(model::between(cell)));
	return text + model::levels_text(cell);
}

// Shows whether a fan-in treats its senders alike: the best and the worst p50 of a sender.
std::string senders_text(const CellResult &cell)
{
	if (model::senders_of(cell.cell) == 1)
		return "–";
	std::optional<uint64_t> best, worst;
	for (const stats::Distribution &sender : cell.by_flow) {
		const auto &p50 = sender.percentiles[0];
		if (!p50)
			return "–";
		best = std::min(best.value_or(*p50), *p50);
		worst = std::max(worst.value_or(*p50), *p50);
	}
	return best ? fmt::format("{}..{}", microseconds(static_cast<double>(*best)),
							  microseconds(static_cast<double>(*worst)))
				: "–";
}

std::string found_text(const rate::FoundRate &found)
{
	if (!found.hz)
		return "–";
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
	return is_load && cell.throughput.received_per_s ? per_second(*cell.throughput.received_per_s) : "–";
}

// Meaning of the rate column. All cells of a run have the same limits.
std::string rate_reading(const std::vector<const CellResult *> &cells)
{
	std::string reading;
	const auto search = std::ranges::find_if(cells, [](const auto *cell) { return cell->search.has_value(); });
	if (std::ranges::any_of(cells, [](const auto *cell) { return !cell->search && rate_text(*cell) != "–"; }))
		reading = "msg/s: received, of what was sent as fast as it went · ";
	if (search == cells.end())
		return reading;
	const model::RateLimits &limits = *(*search)->cell.limits;
	const bool confirmed = std::ranges::all_of(
		cells, [](const auto *cell) { return !cell->search || cell->search->confirmed_by_enough(); });
	return reading +
		   fmt::format("msg/s{}: the highest rate that most blocks held, with {} and a p99 of {} at most from when "
					   "a message was due; the other columns are of that rate, latency from when it was sent, of {} · ",
					   reading.empty() ? "" : " of max-rate",
					   limits.max_loss > 0 ? percent(limits.max_loss) + " lost" : "nothing lost",
					   duration(static_cast<double>(limits.max_p99_ns)),
					   confirmed ? "fresh blocks after the search" : "the search's own blocks, too few came after it");
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
	size_t width = columns(column.head);
	for (const std::string &cell : column.cells)
		width = std::max(width, columns(page.spelled(cell)));
	return width;
}

std::string cell_text(const Column &column, const std::string &text, const Page &page)
{
	return column.right ? pad_left(page.spelled(text), width_of(column, page))
						: pad_right(page.spelled(text), width_of(column, page));
}

// Of the messages around the p50, which is in the same row.
std::string layers_text(const CellResult &cell, size_t width, const Look &look)
{
	if (cell.probed == 0 || cell.tells_typical())
		return layer_bar(cell.typical ? cell.typical->layers.rows() : std::vector<LayerRow>(), width, look);
	if (cell.tells_where() && !cell.typical)
		return pad_right("–", width);
	const double share = cell.tells_where() ? cell.typical->share_known() : cell.share_known();
	return pad_right(fmt::format("{:.0f} % known", std::floor(share * 100)), width);
}

void add_rows(Page &page, const std::vector<const CellResult *> &cells, const std::vector<const Column *> &before,
			  const std::vector<const Column *> &after)
{
	constexpr size_t kNarrowest = 10, kWidest = 48;
	size_t used = 0;
	for (const auto &group : {before, after})
		for (const Column *column : group)
			used += width_of(*column, page);
	const size_t gaps = before.size() + after.size();
	const std::string gap(used + 2 * gaps + kNarrowest <= page.width() ? 2 : 1, ' ');
	used += gaps * gap.size();
	const size_t bar = std::clamp(page.width() > used ? page.width() - used : 0, kNarrowest, kWidest);
	const auto row = [&](const std::string &middle, const auto &cell_of) {
		std::string out;
		for (const Column *column : before)
			out += cell_text(*column, cell_of(*column), page) + gap;
		out += middle;
		for (const Column *column : after)
			out += gap + cell_text(*column, cell_of(*column), page);
		page.line(out);
	};
	row(pad_right("layers", bar), [](const Column &column) { return column.head; });
	for (size_t i = 0; i < cells.size(); ++i)
		row(layers_text(*cells[i], bar, page.look()), [&](const Column &column) { return column.cells[i]; });
}

void add_legend(Page &page, const std::vector<const CellResult *> &cells)
{
	std::array<bool, model::kLayerCount> used{};
	for (const CellResult *cell : cells) {
		if (!cell->tells_typical())
			continue;
		const auto sums = by_layer(cell->typical->layers.rows());
		for (size_t i = 0; i < sums.size(); ++i)
			used[i] = used[i] || sums[i] > 0;
	}
	std::string out;
	size_t taken = 0;
	for (size_t i = 0; i < used.size(); ++i) {
		if (!used[i])
			continue;
		const auto layer = static_cast<model::Layer>(i);
		const size_t needed = 2 + model::name(layer).size() + 2;
		if (taken + needed > page.width() + 2) {
			page.line(out);
			out.clear();
			taken = 0;
		}
		out += fmt::format("{}{} {}", taken > 0 ? "  " : "", layer_symbol(layer, 1, page.look()), model::name(layer));
		taken += needed;
	}
	if (!out.empty())
		page.line(out);
}

// Every latency above includes the cost of the stamps, which readers would take for the target's. The latency of `null`
// shows it only where each message is alone; otherwise that is mostly waiting for the message before.
void add_floor(Page &page, const std::vector<const CellResult *> &cells)
{
	const auto is_floor = [](const CellResult *cell) {
		return cell->cell.traits.has(model::Trait::NotIpc) && !model::injects(cell->cell.levels);
	};
	std::string target;
	std::array<std::string, std::size(model::kPatternNames)> floors; // by pattern
	std::array<bool, floors.size()> measured{};
	for (const CellResult *cell : cells) {
		const model::Pattern pattern = cell->cell.pattern;
		const auto index = static_cast<size_t>(pattern);
		measured[index] = true;
		const bool under_another = std::ranges::any_of(cells, [&](const CellResult *other) {
			return !is_floor(other) && other->cell.pattern == pattern &&
				   model::between(other->cell) == model::between(cell->cell) &&
				   other->cell.payload_bytes == cell->cell.payload_bytes;
		});
		const bool alone = pattern == model::Pattern::PingPong || pattern == model::Pattern::OneWay;
		if (!is_floor(cell) || !alone || !under_another || !cell->latency.percentiles[0])
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
		"rank, × fastest: by ratios of both p50s within rounds{}; {} of {} pairs are told apart; 2–3: this run "
		"doesn't tell which of these places · ",
		std::ranges::count_if(result.ranking, ranked) > 1 ? ", among cells of one pattern, wait, size and load" : "",
		told_apart, pairs);
}

std::string rank_text(const RankedCell &cell)
{
	if (!cell.rank)
		return "–";
	return cell.rank->first == cell.rank->last ? fmt::format("{}", cell.rank->first)
											   : fmt::format("{}–{}", cell.rank->first, cell.rank->last);
}

std::string to_fastest_text(const RankedCell &cell)
{
	if (!cell.to_fastest)
		return "–";
	const auto &[low, high] = cell.to_fastest->interval;
	return fmt::format("{:.2f} ±{:.2f}", cell.to_fastest->ratio, (high - low) / 2);
}

// Explains the columns beyond their heads. `optional`: optional columns of this table with their meaning.
std::string reading_of(const std::vector<const CellResult *> &cells, const Column &probes, bool has_far,
					   const std::string &optional)
{
	// See stats/block_interval.h for their coverage in simulated runs.
	const bool by_opening =
		std::ranges::any_of(cells, [](const CellResult *cell) { return cell->openings.carry_intervals(); });
	std::string reading = fmt::format("±: half of the 95 % interval over {}; p99's is too narrow for rare events · ",
									  by_opening ? "openings" : "blocks");
	size_t beside = 0;
	for (const CellResult *cell : cells)
		beside = std::max(beside, cell->capture.beside);
	if (beside > 0)
		reading += fmt::format("sparse: {} cells take turns within each period · ", beside + 1);
	const auto untold = [](const std::string &cell) { return cell.ends_with("±?"); };
	if (std::ranges::any_of(probes.cells, untold))
		reading += "±?: too few blocks to tell · ";
	reading += optional;
	if (!std::ranges::all_of(cells, &CellResult::tells_where))
		reading += "% known: of too few messages, or of too little of their time, the path is known for their mean to "
				   "be that of all (see the notices) · ";
	const std::string far_needs = fmt::format("{0}000 messages in {0} blocks", stats::kFarBeyond);
	if (!has_far)
		reading += fmt::format("p99.9 is left out: it needs {} · ", far_needs);
	const bool has_daemon =
		std::ranges::any_of(cells, [](const CellResult *cell) { return cell->daemon_cpu_ns_per_message.has_value(); });
	return reading +
		   fmt::format(
			   "layers: where the time of typical messages goes (p40 to p60), with probes · CPU: of both sides{} per "
			   "message · probes: what they added to the p50 · –: not measured, or too few messages or blocks{}",
			   has_daemon ? " and their daemon" : "", has_far ? fmt::format(" (p99.9 needs {})", far_needs) : "");
}

} // namespace

// What all cells share is in the heading.
void add_cell_table(Page &page, const RunResult &result)
{
	const auto cells = measured(result);
	if (cells.empty()) {
		page.line("nothing was measured");
		page.line();
		return;
	}
	const std::vector<const RankedCell *> ranked = ranked_cells(result);
	Column rank{"rank"}, to_fastest{"× fastest"};
	Column target{"target", false}, pattern{"pattern", false}, wait{"wait", false}, idle{"idle", false}, size{"size"},
		p50{"p50"}, p99{"p99"}, p99_9{"p99.9"}, round_trip{"RTT"}, to_all{"to all"}, senders{"senders"},
		pacing{"pacing"}, taken{"msg/s"}, cpu{"CPU"}, lost{"lost"}, probes{"probes"};
	for (const CellResult *cell : cells) {
		target.cells.push_back(target_text(cell->cell));
		pattern.cells.emplace_back(model::name(cell->cell.pattern));
		wait.cells.emplace_back(model::name(cell->cell.wait));
		idle.cells.emplace_back(model::name(cell->cell.idle_states));
		size.cells.push_back(size_text(cell->cell));
		const RankedCell *place = ranked[static_cast<size_t>(cell - result.cells.data())];
		rank.cells.push_back(place ? rank_text(*place) : "–");
		to_fastest.cells.push_back(!place ? "–" : is_first(result, *place) ? "1" : to_fastest_text(*place));
		p50.cells.push_back(percentile_text(cell->latency, 0));
		p99.cells.push_back(percentile_text(cell->latency, 2));
		p99_9.cells.push_back(percentile_text(cell->latency, 3));
		round_trip.cells.push_back(percentile_text(cell->round_trip, 0));
		to_all.cells.push_back(percentile_text(cell->to_all, 0));
		senders.cells.push_back(senders_text(*cell));
		pacing.cells.push_back(percentile_text(cell->pacing, 2));
		taken.cells.push_back(rate_text(*cell));
		cpu.cells.push_back(cpu_text(*cell));
		lost.cells.push_back(count(cell->messages.lost));
		probes.cells.push_back(effect_text(cell->observer_effect.p50));
	}
	std::string heading = "one-way latency in µs";
	std::vector<const Column *> before = {&target};
	for (const Column *column : {&pattern, &wait}) {
		if (cells.size() > 1 && std::ranges::count(column->cells, column->cells[0]) == std::ssize(cells))
			heading += fmt::format(", {} {}", column->head, column->cells[0]);
		else
			before.push_back(column);
	}
	const auto differs = [&](const CellResult *cell) { return cell->cell.idle_states != cells[0]->cell.idle_states; };
	std::string optional;
	if (std::ranges::any_of(cells, differs)) {
		before.push_back(&idle);
		optional =
			"idle: held: CPUs were kept awake; own: they idled as the machine has it, so a message pays for waking "
			"its receiver's CPU, and figures of the two don't compare · ";
	} else if (cells[0]->cell.idle_states == model::IdleStates::Held) {
		heading += ", CPUs kept awake";
	}
	before.insert(before.end(), {&size, &p50});
	if (std::ranges::any_of(result.ranking, [](const RankedGroup &group) { return !group.pairs.empty(); })) {
		before.insert(before.end(), {&rank, &to_fastest});
		optional += rank_reading(result);
	}
	before.push_back(&p99);
	const bool has_far = std::ranges::any_of(p99_9.cells, [](const std::string &cell) { return cell != "–"; });
	if (has_far)
		before.push_back(&p99_9);
	const std::string rate_meaning = rate_reading(cells);
	for (const auto &[column, meaning] :
		 {std::pair<const Column *, const char *>{&round_trip, "RTT: p50 of the round trip · "},
		  {&to_all, "to all: p50 of the time until the last receiver had it · "},
		  {&senders, "senders: p50 of the one that fares best and of the one that fares worst · "},
		  {&pacing, "pacing: p99 of intended → real send, beside the latency · "},
		  {&taken, rate_meaning.c_str()}})
		if (std::ranges::any_of(column->cells, [](const std::string &cell) { return cell != "–"; })) {
			before.push_back(column);
			optional += meaning;
		}

	page.heading(heading);
	add_rows(page, cells, before, {&cpu, &lost, &probes});
	add_legend(page, cells);
	page.paragraph("", reading_of(cells, probes, has_far, optional), 0);
	add_floor(page, cells);
	page.line();
}

} // namespace icepath::report
