// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/ranking.h"

#include <algorithm>
#include <map>

#include "profiler/model/cell_key.h"

namespace icepath::analysis {
namespace {

using Blocks = std::vector<stats::BlockValue>;

// Compares each cell of the group with those after it.
void compare(RankedGroup &group, const std::vector<Blocks> &blocks, double most_ns)
{
	for (size_t i = 0; i < group.cells.size(); ++i)
		for (size_t j = i + 1; j < group.cells.size(); ++j) {
			const size_t a = group.cells[i].cell, b = group.cells[j].cell;
			const auto ratio = stats::ratio_within_rounds(blocks[b], blocks[a]);
			if (!ratio || stats::times_too_wide(*ratio, blocks[b], blocks[a], most_ns) > 1)
				++group.uncompared;
			else if (ratio->ratio >= 1)
				group.pairs.push_back({a, b, *ratio, ratio->p});
			else
				group.pairs.push_back({b, a, inverse(*ratio), ratio->p});
		}
}

void correct(std::vector<RankedGroup> &groups)
{
	std::vector<double *> p;
	for (RankedGroup &group : groups)
		for (ComparedPair &pair : group.pairs)
			if (pair.p)
				p.push_back(&*pair.p);
	stats::correct(p);
}

// Sorts by how many others a cell beats and how many beat it, whatever the certainty. With a block of each cell in
// every round, that is the order of their geometric means.
void sort_by_speed(RankedGroup &group)
{
	std::map<size_t, int64_t> score;
	for (const ComparedPair &pair : group.pairs) {
		--score[pair.faster];
		++score[pair.slower];
	}
	std::ranges::stable_sort(group.cells, {}, [&](const RankedCell &cell) {
		const auto found = score.find(cell.cell);
		return std::pair(found == score.end(), found == score.end() ? 0 : found->second);
	});
}

void set_ranks(RankedGroup &group)
{
	std::map<size_t, size_t> places; // of those that were compared, by cell
	for (const ComparedPair &pair : group.pairs)
		if (pair.p)
			for (const size_t cell : {pair.faster, pair.slower})
				places.try_emplace(cell, places.size());
	std::vector<stats::Order> told;
	for (const ComparedPair &pair : group.pairs)
		if (pair.told_apart())
			told.push_back({places.at(pair.faster), places.at(pair.slower)});
	const std::vector<stats::Rank> ranks = stats::ranks_of(places.size(), told);
	for (RankedCell &cell : group.cells)
		if (const auto place = places.find(cell.cell); place != places.end())
			cell.rank = ranks[place->second];
}

void set_ratios_to_fastest(RankedGroup &group)
{
	const size_t fastest = group.cells.front().cell;
	for (RankedCell &cell : group.cells)
		for (const ComparedPair &pair : group.pairs)
			if (pair.faster == fastest && pair.slower == cell.cell)
				cell.to_fastest = pair.ratio;
			else if (pair.slower == fastest && pair.faster == cell.cell)
				cell.to_fastest = inverse(pair.ratio);
}

} // namespace

bool can_be_ranked(const model::Cell &cell)
{
	return !cell.traits.has(model::Trait::NotIpc) && !cell.limits && cell.pattern != model::Pattern::Throughput;
}

std::vector<RankedGroup> rank(const std::vector<model::Cell> &cells, const std::vector<Blocks> &blocks, double most_ns)
{
	std::vector<RankedGroup> groups;
	std::vector<model::CellKey> loads;
	for (const model::Cell &cell : cells)
		loads.push_back(model::load_of(model::key_of(cell)));
	for (size_t i = 0; i < cells.size(); ++i) {
		if (!can_be_ranked(cells[i]) || std::ranges::all_of(blocks[i], &stats::BlockValue::treated))
			continue;
		const auto group = std::ranges::find_if(
			groups, [&](const RankedGroup &one) { return loads[one.cells.front().cell] == loads[i]; });
		(group == groups.end() ? groups.emplace_back() : *group).cells.push_back({i, std::nullopt, std::nullopt});
	}
	for (RankedGroup &group : groups)
		compare(group, blocks, most_ns);
	correct(groups);
	for (RankedGroup &group : groups) {
		sort_by_speed(group);
		set_ranks(group);
		set_ratios_to_fastest(group);
	}
	return groups;
}

} // namespace icepath::analysis
