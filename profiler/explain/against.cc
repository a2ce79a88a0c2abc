// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/against.h"

#include <algorithm>
#include <cmath>

#include "profiler/explain/growth_causes.h"
#include "profiler/explain/part_of_probes.h"
#include "profiler/explain/tail.h"
#include "profiler/explain/unknown_paths.h"
#include "profiler/model/cell_title.h"

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

// Why a cell's typical messages don't say where its time goes. Nothing: they do. Other messages, which may be few and
// take most of the time, don't matter here.
std::optional<Finding> why_unknown(const analysis::RunResult &result, size_t index)
{
	const analysis::CellResult &cell = result.cells[index];
	if (cell.paths.deliveries == 0)
		return Finding{.id = FindingId::NoProbes, .cell = index};
	if (!cell.ranges.typical)
		return Finding{.id = FindingId::TooFewProbed, .cell = index, .value = number(cell.paths.deliveries)};
	std::optional<Finding> unknown = too_few_known(FindingId::TypicalPathsUnknown, *cell.ranges.typical);
	if (unknown)
		unknown->cell = index;
	return unknown;
}

std::optional<Finding> too_few(FindingId id, const analysis::RunResult &result, size_t has)
{
	return Finding{.id = id,
				   .value = number(has),
				   .limit = number(stats::kMinBlocks),
				   .needed_s = has > 0 ? longer_run_s(result.head.budget_s, number(stats::kMinBlocks) / number(has))
									   : std::nullopt};
}

size_t untreated(const analysis::CellResult &cell)
{
	return static_cast<size_t>(
		std::ranges::count_if(cell.compared, [](const stats::BlockValue &block) { return !block.treated; }));
}

std::optional<Finding> refusal_of(const analysis::RunResult &result, size_t slower, size_t faster,
								  const std::optional<stats::RoundRatio> &ratio)
{
	for (const size_t index : {slower, faster})
		if (const model::Cell &cell = result.cells[index].cell;
			cell.limits || cell.pattern == model::Pattern::Throughput)
			return Finding{.id = FindingId::OwnRate, .cell = index};
	if (!ratio)
		return too_few(FindingId::TooFewRounds, result,
					   std::min(untreated(result.cells[slower]), untreated(result.cells[faster])));
	if (const double times = stats::times_too_wide(*ratio, result.cells[slower].compared, result.cells[faster].compared,
												   number(result.measured_ns));
		times > 1)
		return Finding{.id = FindingId::RatioWithoutBounds,
					   .evidence = {{Fact::Rounds, number(ratio->rounds)}},
					   .needed_s = longer_run_s(result.head.budget_s, times * times)};
	if (!ratio->p)
		return too_few(FindingId::TooFewOpenings, result, ratio->openings);
	if (*ratio->p >= stats::kToldApart) {
		const auto times =
			times_as_long(std::log(ratio->ratio), {std::log(ratio->interval.low), std::log(ratio->interval.high)});
		return Finding{.id = FindingId::NotToldApart,
					   .cell = slower,
					   .value = ratio->ratio,
					   .interval = ratio->interval,
					   .evidence = {{Fact::Rounds, number(ratio->rounds)},
									{Fact::OtherCell, model::title(result.cells[faster].cell)}},
					   .needed_s = times ? longer_run_s(result.head.budget_s, std::max(*times, 1.0)) : std::nullopt};
	}
	std::optional<Finding> unknown = why_unknown(result, slower);
	return unknown ? unknown : why_unknown(result, faster);
}

} // namespace

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
	found.refusal = cell == against ? std::optional(Finding{.id = FindingId::SameCell})
									: refusal_of(result, found.slower, found.faster, found.ratio);
	if (found.refusal)
		return found;
	Difference difference =
		compare({slower.ranges.typical->layers, slower.code()}, {faster.ranges.typical->layers, faster.code()});
	if (difference.of.is_told() && difference.of.ns() > 0) {
		found.difference = std::move(difference);
		found.causes = causes_of({slower.ranges.typical_culprits, slower.ranges.typical->layers},
								 {faster.ranges.typical_culprits, faster.ranges.typical->layers});
		found.remedies = remedies_of(*found.difference, found.causes, slower, result.head,
									 part_of_probes(longer_by_probes(slower, faster)).most_ns);
	} else if (!difference.of.interval)
		found.refusal =
			Finding{.id = FindingId::TypicalOfTooFewBlocks,
					.needed_s = longer_run_s(result.head.budget_s,
											 std::max(times_until_interval(slower.ranges.typical->layers),
													  times_until_interval(faster.ranges.typical->layers)))};
	else {
		const auto ns = static_cast<double>(difference.of.ns());
		const auto times = ns > 0 ? times_as_long(ns, *difference.of.interval) : std::nullopt;
		found.refusal =
			Finding{.id = FindingId::ProbesDisagree,
					.value = found.ratio->ratio,
					.interval = found.ratio->interval,
					.evidence = {{Fact::HighNs, number(difference.of.a_ns)}, {Fact::LowNs, number(difference.of.b_ns)}},
					.needed_s = times ? longer_run_s(result.head.budget_s, std::max(*times, 1.0)) : std::nullopt};
	}
	return found;
}

Against explain_named(const analysis::RunResult &result, const std::pair<std::string, std::string> &texts)
{
	std::vector<model::Cell> cells;
	std::vector<bool> measured;
	for (const analysis::CellResult &cell : result.cells) {
		cells.push_back(cell.cell);
		measured.push_back(cell.blocks.probed + cell.blocks.unprobed > 0);
	}
	const analysis::PairOfCells pair = analysis::pairs_named(cells, measured, texts).front();
	Against found = explain_against(result, pair.cell, pair.against);
	const analysis::OtherPairs others = analysis::other_pairs(cells, measured, texts);
	for (const analysis::OtherPair &other : others.named)
		found.others.push_back(other.options);
	found.others_without = others.unnamed;
	return found;
}

} // namespace icepath::explain
