// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/culprit_sums.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace icepath::explain {
namespace {

using analysis::Origin;
using Key = std::tuple<std::string, path::Culprit::Kind, Origin, bool, std::optional<model::Layer>>;
using SumsByName = std::map<Key, CulpritSum>;

void add(const analysis::CulpritRow &row, std::optional<model::Layer> layer, SumsByName &sums)
{
	const CulpritSum first{row.name, row.kind, row.origin, row.ended_sleep(), layer};
	CulpritSum &sum =
		sums.try_emplace({first.name, first.kind, first.origin, first.ended_sleep, layer}, first).first->second;
	sum.ns += row.total_ns;
	sum.segments += row.segments;
}

std::vector<CulpritSum> longest_first(const SumsByName &sums)
{
	std::vector<CulpritSum> list;
	for (const auto &[key, sum] : sums)
		list.push_back(sum);
	std::ranges::stable_sort(list, std::ranges::greater(), &CulpritSum::ns);
	return list;
}

} // namespace

std::vector<CulpritSum> sums_of_others(const std::vector<analysis::CellResult> &cells)
{
	SumsByName sums;
	for (const analysis::CellResult &cell : cells)
		for (const analysis::CulpritRow &row : cell.paths.culprits.top(SIZE_MAX))
			if (!is_own(row.origin) && row.origin != Origin::IdleCpu && !row.ended_sleep())
				add(row, std::nullopt, sums);
	return longest_first(sums);
}

std::vector<CulpritSum> culprit_sums(const std::vector<analysis::CellResult> &cells)
{
	SumsByName sums;
	for (const analysis::CellResult &cell : cells)
		for (const analysis::CulpritRow &row : cell.paths.culprits.top(SIZE_MAX))
			add(row, row.layer, sums);
	return longest_first(sums);
}

} // namespace icepath::explain
