// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/culprit_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace icepath::explain {
namespace {

using analysis::Origin;
using SumsByName = std::map<std::pair<std::string, std::string>, CulpritSum>; // by name and layer

// Names alone don't tell tasks from what has no name.
std::string in_words(const analysis::CulpritRow &row)
{
	using Kind = path::Culprit::Kind;
	if (row.kind == Kind::Unknown)
		return "unknown (no record)";
	if (row.origin == Origin::OwnWork || row.origin == Origin::OtherTarget ||
		(row.origin == Origin::OwnTimer && !row.ended_sleep()))
		return fmt::format("{} ({})", row.name, word(row.origin));
	return row.kind == Kind::Task && !row.name.starts_with("task ") ? "task " + row.name : row.name;
}

void add(const analysis::CulpritRow &row, const std::string &layer, SumsByName &sums)
{
	const std::string name = in_words(row);
	CulpritSum &sum = sums.try_emplace({name, layer}, CulpritSum{name, layer, 0, 0}).first->second;
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
		for (const analysis::CulpritRow &row : cell.culprits.top(SIZE_MAX))
			if (!is_own(row.origin) && row.origin != Origin::IdleCpu && !row.ended_sleep())
				add(row, "", sums);
	return longest_first(sums);
}

std::vector<CulpritSum> culprit_sums(const std::vector<analysis::CellResult> &cells)
{
	SumsByName sums;
	for (const analysis::CellResult &cell : cells)
		for (const analysis::CulpritRow &row : cell.culprits.top(SIZE_MAX))
			add(row, std::string(model::name(row.layer)), sums);
	return longest_first(sums);
}

} // namespace icepath::explain
