// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/model/cell_title.h"
#include "profiler/report/cell_modes.h"
#include "profiler/report/quantity.h"
#include "profiler/report/unknown_paths.h"

namespace icepath::report {
namespace {

// The ratio of a over b. Takes the report's own comparison if it has one, so that both say the same.
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

// Why a cell's typical messages don't say where its time goes. Empty: they do. Other messages, which may be few and
// take most of the time, don't matter here.
std::string why_unknown(const CellResult &cell)
{
	const std::string title = model::title(cell.cell);
	if (cell.probed == 0)
		return title +
			   " was not measured with probes: measure longer, as root or after icepath setup (sudo icepath run "
			   "-d)";
	if (!cell.typical)
		return title + " has too few messages with probes: measure longer (icepath run -d)";
	return too_few_known(*cell.typical, "typical messages of " + title);
}

std::string refusal_of(const CellResult &slower, const CellResult &faster,
					   const std::optional<stats::RoundRatio> &ratio)
{
	for (const CellResult *cell : {&slower, &faster})
		if (cell->cell.limits || cell->cell.pattern == model::Pattern::Throughput)
			return fmt::format("{} sets its own rate: the faster it goes, the longer its messages queue. Compare "
							   "pingpong or oneway (icepath run --patterns)",
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
		if (const std::string unknown = why_unknown(*cell); !unknown.empty())
			return unknown;
	return "";
}

} // namespace

std::optional<stats::Effect> longer_by_probes(const CellResult &slower, const CellResult &faster)
{
	const auto &a = slower.observer_effect.p50, &b = faster.observer_effect.p50;
	if (!a || !b)
		return {};
	stats::Effect longer{a->mean - b->mean, std::min(a->pairs, b->pairs), {}};
	if (a->interval && b->interval) {
		const double half = std::hypot(a->interval->high - a->interval->low, b->interval->high - b->interval->low) / 2;
		longer.interval = {longer.mean - half, longer.mean + half};
	}
	return longer;
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
	found.refusal = cell == against
						? "--cell and --against name the same cell: `icepath report -v RUN` lists the titles"
						: refusal_of(slower, faster, found.ratio);
	if (!found.refusal.empty())
		return found;
	Difference difference =
		compare({slower.typical->layers, slower.is_of_library()}, {faster.typical->layers, faster.is_of_library()});
	if (difference.of.is_told() && difference.of.ns() > 0) {
		found.difference = std::move(difference);
		found.causes = causes_of(slower.typical_culprits, slower.typical->layers.deliveries(), faster.typical_culprits,
								 faster.typical->layers.deliveries(), own_threads(slower.typical->layers));
		found.remedies = remedies_of({*found.difference, found.causes, slower.cell});
	} else if (!difference.of.interval)
		found.refusal = "their typical messages come from too few blocks with probes: measure longer (icepath run -d)";
	else
		found.refusal =
			fmt::format("without probes it takes {} as long, but with probes the typical messages of both "
						"don't differ likewise: {} "
						"and {} µs. So layers, which only blocks with probes have, can't explain it: measure "
						"longer (icepath run -d)",
						interval_words(*found.ratio), microseconds(static_cast<double>(difference.of.a_ns)),
						microseconds(static_cast<double>(difference.of.b_ns)));
	return found;
}

Against explain_named(const RunResult &result, const std::pair<std::string, std::string> &texts)
{
	std::vector<model::Cell> cells;
	std::vector<bool> measured;
	for (const CellResult &cell : result.cells) {
		cells.push_back(cell.cell);
		measured.push_back(cell.blocks_probed + cell.blocks_unprobed > 0);
	}
	const PairOfCells pair = pairs_named(cells, measured, texts).front();
	Against found = explain_against(result, pair.cell, pair.against);
	const OtherPairs others = other_pairs(cells, measured, texts);
	for (const OtherPair &other : others.named)
		found.others.push_back("icepath explain RUN " + other.options);
	found.others_without = others.unnamed;
	return found;
}

namespace {

// Commands aren't wrapped, so that they can be pasted.
void add_others(Page &page, const Against &against)
{
	constexpr size_t kShown = 4;
	const std::vector<std::string> &others = against.others;
	for (size_t i = 0; i < std::min(kShown, others.size()); ++i)
		page.line(page.spelled(pad_right(i == 0 ? "others" : "", 10) + others[i]));
	if (others.size() > kShown)
		page.paragraph("",
					   fmt::format("and {} more pairs: icepath report -v RUN has the titles", others.size() - kShown));
	if (against.others_without > 0)
		page.paragraph(
			others.empty() ? "others" : "",
			fmt::format("{} without a command, since another cell has the same title", count(against.others_without)));
}

// "4.00 µs longer"
std::string longer_text(double ns)
{
	return fmt::format("{} µs {}", microseconds(std::abs(ns)), ns < 0 ? "shorter" : "longer");
}

// Says first which messages the table leaves out.
void add_unknown_of_both(Page &page, const Against &against, const CellResult &slower, const CellResult &faster)
{
	std::string text;
	for (const CellResult *cell : {&slower, &faster})
		if (const std::string unknown = without_path_text(*cell); !unknown.empty())
			text += (text.empty() ? "" : ". ") + fmt::format("of {}: {}", model::title(cell->cell), unknown);
	if (text.empty())
		return;
	text += fmt::format(". What follows isn't of them: a typical message takes {}",
						longer_text(static_cast<double>(against.difference->of.ns())));
	if (const auto longer = mean_longer(slower, faster); longer && longer->known_ns)
		text += fmt::format("; on average all messages with a known path take {}, and all messages {}",
							longer_text(*longer->known_ns), longer_text(longer->all_ns));
	page.paragraph("unknown", text);
}

// How much of the difference comes from the probes.
void add_longer_by_probes(Page &page, const CellResult &slower, const CellResult &faster)
{
	const std::optional<stats::Effect> longer = longer_by_probes(slower, faster);
	if (!longer)
		return;
	const bool is_told = longer->interval && (longer->interval->low > 0 || longer->interval->high < 0);
	const stats::Effect part{std::abs(longer->mean), longer->pairs, longer->interval};
	const std::string theirs = !is_told ? "which doesn't tell whether a part of the difference is theirs"
							   : longer->mean > 0
								   ? "so " + effect_text(part).substr(1) + " µs of the difference are theirs"
								   : "so they hide " + effect_text(part).substr(1) + " µs of it";
	page.paragraph("probes",
				   fmt::format("they add {} and {} µs to the two p50s, {}", effect_text(slower.observer_effect.p50),
							   effect_text(faster.observer_effect.p50), theirs));
}

} // namespace

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
		add_others(page, against);
		return;
	}
	add_unknown_of_both(page, against, slower, faster);
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
	page.paragraph("because",
				   fmt::format("a typical message with probes takes {} µs longer{}",
							   microseconds(static_cast<double>(difference.of.ns())),
							   most.empty() ? ", and no kind of time with a tenth of that or more differs significantly"
											: ". " + most));
	add_longer_by_probes(page, slower, faster);
	page.paragraph(
		"messages",
		fmt::format(
			"with a complete path, from p40 to p60 of each cell with probes: {} and {}. Each message "
			"counts the same. The p50s of the whole run, without probes and with all changes of the machine, are {} "
			"and {} µs",
			known_text(*slower.typical), known_text(*faster.typical), percentile_text(slower.latency, 0),
			percentile_text(faster.latency, 0)));
	page.line();
	const bool by_target = slower.cell.target != faster.cell.target;
	add_difference(
		page, difference,
		{by_target ? slower.cell.target : "A", by_target ? faster.cell.target : "B", "longer by", "of it", false});
	page.line(page.spelled("  ±: half of the 95 % interval, over the blocks of both that share a round or an opening"));
	add_causes(page, against.causes, "in slower", "in faster");
	add_next(page, steps_of(against.remedies, "the difference", difference.has_shares()));
	add_others(page, against);
}

} // namespace icepath::report
