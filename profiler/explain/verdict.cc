// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/verdict.h"

#include <algorithm>
#include <numeric>

#include "profiler/analysis/cell_groups.h"
#include "profiler/explain/part_of_probes.h"

namespace icepath::explain {
namespace {

// Whether the cell is certainly slower than the group's first one.
bool is_slower(const analysis::RankedGroup &group, const analysis::RankedCell &cell)
{
	const size_t first = group.cells.front().cell;
	return cell.to_fastest && cell.to_fastest->interval.low > 1 &&
		   std::ranges::any_of(group.pairs, [&](const analysis::ComparedPair &pair) {
			   return pair.faster == first && pair.slower == cell.cell && pair.told_apart();
		   });
}

// Mean time of each kind in typical messages; of several modes, in the messages of the one that most messages without
// probes are in: probes may change the shares. All zero where that isn't known, or no mode has most.
std::array<double, analysis::kLayerKinds> typical_kinds(const analysis::CellResult &cell)
{
	if (cell.modes.all.empty())
		return cell.ranges.tells_typical() ? analysis::by_kind(cell.ranges.typical->layers.rows(), cell.is_of_library())
										   : std::array<double, analysis::kLayerKinds>{};
	constexpr double kMost = 0.5;
	for (const analysis::CellMode &mode : cell.modes.all)
		if (mode.share.value() > kMost && mode.tells_where())
			return analysis::by_kind(mode.range.layers.rows(), cell.is_of_library());
	return {};
}

} // namespace

std::vector<GroupVerdict> verdicts(const analysis::RunResult &result)
{
	std::vector<GroupVerdict> all;
	for (const analysis::RankedGroup &group : result.ranking) {
		if (group.cells.size() < 2 ||
			std::ranges::none_of(group.cells, [](const analysis::RankedCell &cell) { return cell.rank.has_value(); }))
			continue;
		GroupVerdict &verdict = all.emplace_back();
		for (const analysis::RankedCell &cell : group.cells) {
			if (is_slower(group, cell))
				verdict.slower.push_back(cell);
			else
				verdict.fastest.push_back(cell.cell);
		}
		std::ranges::stable_sort(verdict.slower, {},
								 [](const analysis::RankedCell &cell) { return cell.to_fastest->ratio; });
	}
	return all;
}

std::optional<MostTime> most_time(const analysis::CellResult &cell)
{
	if (analysis::is_floor(cell.cell))
		return std::nullopt;
	const auto kinds = typical_kinds(cell);
	const double all = std::accumulate(kinds.begin(), kinds.end(), 0.0);
	const auto most = std::ranges::max_element(kinds);
	if (*most <= 0)
		return std::nullopt;
	double next = 0;
	for (auto kind = kinds.begin(); kind != kinds.end(); ++kind)
		if (kind != most)
			next = std::max(next, *kind);
	return MostTime{static_cast<analysis::LayerKind>(most - kinds.begin()), *most / all,
					*most - next < part_of_probes(cell.observer_effect.p50).most_ns};
}

bool hides_modes(const analysis::CellResult &cell)
{
	return cell.paths.deliveries > 0 && !analysis::is_floor(cell.cell) && !cell.modes.all.empty() && !most_time(cell);
}

} // namespace icepath::explain
