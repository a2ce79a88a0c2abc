// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

// Of a over b. The report's own comparison if it has one, so that both say the same.
std::optional<stats::RoundRatio> ratio_of(const RunResult &result, size_t a, size_t b)
{
	for (const RankedGroup &group : result.ranking)
		for (const ComparedPair &pair : group.pairs) {
			stats::RoundRatio ratio = pair.ratio;
			ratio.p = pair.p;
			if (pair.slower == a && pair.faster == b)
				return ratio;
			if (pair.slower == b && pair.faster == a)
				return inverse(ratio);
		}
	return stats::ratio_within_rounds(result.cells[a].compared, result.cells[b].compared);
}

std::string interval_words(const stats::RoundRatio &ratio)
{
	return fmt::format("{:.3g} times, between {:.3g} and {:.3g}", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

std::vector<std::string> unlike(const model::Cell &a, const model::Cell &b)
{
	std::vector<std::string> found;
	const auto add = [&](bool differ, const char *what, const auto &of_a, const auto &of_b) {
		if (differ)
			found.push_back(fmt::format("{}: {} and {}", what, of_a, of_b));
	};
	add(a.pattern != b.pattern, "pattern", model::name(a.pattern), model::name(b.pattern));
	add(a.wait != b.wait, "wait", model::name(a.wait), model::name(b.wait));
	add(a.payload_bytes != b.payload_bytes, "size", model::payload_text(a.payload_bytes),
		model::payload_text(b.payload_bytes));
	add(model::between(a) != model::between(b), "between", model::name(model::between(a)),
		model::name(model::between(b)));
	add(a.idle_states != b.idle_states, "idle states of CPUs", model::name(a.idle_states), model::name(b.idle_states));
	if (a.rate_hz != b.rate_hz && a.pattern == b.pattern)
		found.emplace_back("rate");
	if (!(a.levels == b.levels))
		found.push_back(fmt::format("levels:{} and{}", model::levels_text(a), model::levels_text(b)));
	return found;
}

std::string percent_known(const CellResult &cell)
{
	const double typical = cell.typical ? cell.typical->share_known() : 0;
	return percent(std::min(cell.share_known(), typical));
}

// Why a cell's typical messages don't say where its time goes. Empty: they do.
std::string unknown_paths(const CellResult &cell)
{
	const std::string title = model::title(cell.cell);
	if (cell.probed == 0)
		return title + " was not measured with probes";
	if (!cell.typical)
		return title + " has too few messages with probes";
	if (!cell.tells_typical() || cell.typical->layers.deliveries() == 0)
		return fmt::format("only {} of the messages of {} have a known path, too few to stand for all",
						   percent_known(cell), title);
	return "";
}

std::string refusal_of(const CellResult &slower, const CellResult &faster,
					   const std::optional<stats::RoundRatio> &ratio)
{
	for (const CellResult *cell : {&slower, &faster})
		if (cell->cell.limits || cell->cell.pattern == model::Pattern::Throughput)
			return fmt::format("{} sets its own rate: the faster it goes, the longer its messages queue",
							   model::title(cell->cell));
	if (!ratio)
		return fmt::format("fewer than {} rounds measured both cells: measure longer (icepath run -d)",
						   stats::kMinBlocks);
	if (!ratio->p)
		return fmt::format("fewer than {} openings measured both cells, and a difference may be the luck of their "
						   "processes: measure longer (icepath run -d)",
						   stats::kMinBlocks);
	if (*ratio->p >= stats::kToldApart)
		return fmt::format("{} rounds don't tell the two apart: {} takes {} as long as {}. Measure longer (icepath run "
						   "-d), or fewer cells",
						   ratio->rounds, model::title(slower.cell), interval_words(*ratio), model::title(faster.cell));
	for (const CellResult *cell : {&slower, &faster})
		if (const std::string unknown = unknown_paths(*cell); !unknown.empty())
			return unknown;
	return "";
}

} // namespace

size_t cell_with(const RunResult &result, const std::string &part, const std::string &option)
{
	std::array<std::vector<size_t>, 3> found; // the best first
	for (size_t i = 0; i < result.cells.size(); ++i) {
		const CellResult &cell = result.cells[i];
		const std::string title = model::title(cell.cell);
		if (cell.blocks_probed + cell.blocks_unprobed == 0 || title.find(part) == std::string::npos)
			continue;
		found[title == part ? 0 : title.starts_with(part + " ") ? 1 : 2].push_back(i);
	}
	const auto best = std::ranges::find_if(found, [](const auto &cells) { return !cells.empty(); });
	if (best == found.end())
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: no cell that was measured has \"{}\" in its title", option, part));
	if (best->size() == 1)
		return best->front();
	constexpr size_t kNamed = 4;
	std::vector<std::string> titles;
	for (size_t i = 0; i < std::min(kNamed, best->size()); ++i)
		titles.push_back(model::title(result.cells[(*best)[i]].cell));
	throw Failure(ExitCode::Usage,
				  fmt::format("{}: {} cells have \"{}\" in their titles: {}{}. Give more of one title", option,
							  best->size(), part, fmt::join(titles, ", "), best->size() > kNamed ? ", …" : ""));
}

Against explain_against(const RunResult &result, size_t cell, size_t against)
{
	Against found;
	found.ratio = ratio_of(result, cell, against);
	found.as_asked = !found.ratio || found.ratio->ratio >= 1;
	found.slower = found.as_asked ? cell : against;
	found.faster = found.as_asked ? against : cell;
	if (!found.as_asked)
		found.ratio = inverse(*found.ratio);
	const CellResult &slower = result.cells[found.slower], &faster = result.cells[found.faster];
	found.unlike = unlike(slower.cell, faster.cell);
	found.refusal = cell == against ? "it is one and the same cell" : refusal_of(slower, faster, found.ratio);
	if (!found.refusal.empty())
		return found;
	Difference difference =
		compare({slower.typical->layers, slower.is_of_library()}, {faster.typical->layers, faster.is_of_library()});
	if (difference.of.is_told() && difference.of.ns() > 0) {
		found.difference = std::move(difference);
		const std::vector<Cause> causes =
			causes_of(slower.typical_culprits, slower.typical->layers.deliveries(), faster.typical_culprits,
					  faster.typical->layers.deliveries(), own_threads(slower.typical->layers));
		found.remedies = remedies_of({*found.difference, causes, slower.cell});
	} else if (!difference.of.interval)
		found.refusal = "their typical messages are of too few blocks with probes: measure longer (icepath run -d)";
	else
		found.refusal = fmt::format("without probes it takes {} as long, but with probes the typical messages of both "
									"don't differ likewise: {} "
									"and {} µs. So layers, which only blocks with probes have, can't explain it",
									interval_words(*found.ratio), microseconds(static_cast<double>(difference.of.a_ns)),
									microseconds(static_cast<double>(difference.of.b_ns)));
	return found;
}

void add_against(Page &page, const RunResult &result, const Against &against)
{
	const CellResult &slower = result.cells[against.slower], &faster = result.cells[against.faster];
	const std::string title = model::title(slower.cell), other = model::title(faster.cell);
	page.heading(fmt::format("why {} is slower than {}", title, other));
	if (!against.unlike.empty())
		page.paragraph("unlike",
					   fmt::format("they don't differ by the target alone: {}", fmt::join(against.unlike, "; ")));
	if (!against.difference) {
		page.paragraph("refused", against.refusal);
		return;
	}
	const Difference &difference = *against.difference;
	page.paragraph(
		"ratio", fmt::format("{}it takes {} as long, by all messages without probes but the fastest and slowest "
							 "tenths, within the {} rounds that measured both: this is by how much",
							 against.as_asked ? "" : "the other way round than asked: ", interval_words(*against.ratio),
							 against.ratio->rounds));
	for (const CellResult *cell : {&slower, &faster})
		if (const std::string probes = probes_text(*cell); !probes.empty())
			page.paragraph("probes", fmt::format("of {}: {}. What follows is of messages with probes",
												 model::title(cell->cell), probes));
	const std::string most = most_of_it(difference);
	page.paragraph("because", fmt::format("a typical message with probes takes {} µs longer{}",
										  microseconds(static_cast<double>(difference.of.ns())),
										  most.empty() ? ", and no kind of time is told apart" : ". " + most));
	page.paragraph(
		"messages",
		fmt::format(
			"with a complete path, from p40 to p60 of each cell with probes: {} and {}. Each message "
			"counts the same. The p50s of the whole run, without probes and with all changes of the machine, are {} "
			"and {} µs",
			count(slower.typical->layers.deliveries()), count(faster.typical->layers.deliveries()),
			percentile_text(slower.latency, 0), percentile_text(faster.latency, 0)));
	page.line();
	const bool by_target = slower.cell.target != faster.cell.target;
	add_difference(
		page, difference,
		{by_target ? slower.cell.target : "A", by_target ? faster.cell.target : "B", "longer by", "of it", false});
	page.line(page.spelled("  ±: half of the 95 % interval, over the blocks of both that share a round or an opening"));
	add_remedies(page, against.remedies);
}

} // namespace icepath::report
