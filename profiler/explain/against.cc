// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/explain/growth_causes.h"
#include "profiler/explain/unknown_paths.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

// The ratio of a over b. Takes the report's own comparison if it has one, so that both say the same.
std::optional<stats::RoundRatio> ratio_of(const analysis::RunResult &result, size_t a, size_t b)
{
	for (const analysis::RankedGroup &group : result.ranking)
		for (const analysis::ComparedPair &pair : group.pairs) {
			stats::RoundRatio ratio = pair.ratio;
			ratio.p = pair.p;
			if (pair.slower == a && pair.faster == b)
				return ratio;
			if (pair.slower == b && pair.faster == a)
				return inverse(ratio);
		}
	return stats::ratio_within_rounds(result.cells[a].compared, result.cells[b].compared);
}

// Why a cell's typical messages don't say where its time goes. Empty: they do. Other messages, which may be few and
// take most of the time, don't matter here.
std::string why_unknown(const analysis::CellResult &cell)
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

std::string refusal_of(const analysis::CellResult &slower, const analysis::CellResult &faster,
					   const std::optional<stats::RoundRatio> &ratio)
{
	for (const analysis::CellResult *cell : {&slower, &faster})
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
	for (const analysis::CellResult *cell : {&slower, &faster})
		if (const std::string unknown = why_unknown(*cell); !unknown.empty())
			return unknown;
	return "";
}

} // namespace

std::string interval_words(const stats::RoundRatio &ratio)
{
	return fmt::format("{:.3g} times, between {:.3g} and {:.3g}", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

std::optional<stats::Effect> longer_by_probes(const analysis::CellResult &slower, const analysis::CellResult &faster)
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

Against explain_against(const analysis::RunResult &result, size_t cell, size_t against)
{
	Against found;
	found.ratio = ratio_of(result, cell, against);
	found.as_asked = !found.ratio || found.ratio->ratio >= 1;
	found.slower = found.as_asked ? cell : against;
	found.faster = found.as_asked ? against : cell;
	if (!found.as_asked)
		found.ratio = inverse(*found.ratio);
	const analysis::CellResult &slower = result.cells[found.slower], &faster = result.cells[found.faster];
	found.unlike = analysis::unlike(slower.cell, faster.cell);
	found.refusal = cell == against
						? "--cell and --against name the same cell: `icepath report -v RUN` lists the titles"
						: refusal_of(slower, faster, found.ratio);
	if (!found.refusal.empty())
		return found;
	Difference difference =
		compare({slower.typical->layers, slower.is_of_library()}, {faster.typical->layers, faster.is_of_library()});
	if (difference.of.is_told() && difference.of.ns() > 0) {
		found.difference = std::move(difference);
		found.causes = causes_of({slower.typical_culprits, slower.typical->layers},
								 {faster.typical_culprits, faster.typical->layers});
		found.remedies = remedies_of({*found.difference, found.causes, slower.cell, result.head});
	} else if (!difference.of.interval)
		found.refusal = "their typical messages come from too few blocks with probes: measure longer (icepath run -d)";
	else
		found.refusal =
			fmt::format("without probes it takes {} as long, but with probes the typical messages of both "
						"don't differ likewise: {} "
						"and {} µs. So layers, which only blocks with probes have, can't explain it: measure "
						"longer (icepath run -d)",
						interval_words(*found.ratio), stats::microseconds(static_cast<double>(difference.of.a_ns)),
						stats::microseconds(static_cast<double>(difference.of.b_ns)));
	return found;
}

Against explain_named(const analysis::RunResult &result, const std::pair<std::string, std::string> &texts)
{
	std::vector<model::Cell> cells;
	std::vector<bool> measured;
	for (const analysis::CellResult &cell : result.cells) {
		cells.push_back(cell.cell);
		measured.push_back(cell.blocks_probed + cell.blocks_unprobed > 0);
	}
	const analysis::PairOfCells pair = analysis::pairs_named(cells, measured, texts).front();
	Against found = explain_against(result, pair.cell, pair.against);
	const analysis::OtherPairs others = analysis::other_pairs(cells, measured, texts);
	for (const analysis::OtherPair &other : others.named)
		found.others.push_back("icepath explain RUN " + other.options);
	found.others_without = others.unnamed;
	return found;
}

} // namespace icepath::explain
