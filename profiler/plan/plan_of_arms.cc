// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/plan_of_arms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/failure.h"
#include "profiler/model/cell_key.h"
#include "profiler/model/cell_title.h"
#include "profiler/plan/target_choice.h"

namespace icepath::plan {
namespace {

std::optional<size_t> place_of(const model::Cell &cell, const Plan &plan)
{
	const auto found = std::ranges::find(plan.cells, model::key_of(cell), model::key_of);
	return found == plan.cells.end() ? std::nullopt : std::optional<size_t>(found - plan.cells.begin());
}

// "arms old and new", of those whose plan it is true of; empty: of all.
template <typename IsTrue>
std::string some_of(const std::vector<model::Arm> &arms, const std::vector<Plan> &plans, IsTrue is_true)
{
	std::vector<std::string> names;
	for (size_t i = 0; i < arms.size(); ++i)
		if (is_true(plans[i]))
			names.push_back(arms[i].name);
	if (names.size() == arms.size())
		return "";
	return fmt::format("arm{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

void add_notices(const std::vector<model::Arm> &arms, const std::vector<Plan> &plans, Plan &all)
{
	for (const Plan &plan : plans)
		for (const std::string &notice : plan.notices) {
			const std::string of = some_of(arms, plans, [&](const Plan &other) {
				return std::ranges::find(other.notices, notice) != other.notices.end();
			});
			add_once(all.notices, of.empty() ? notice : fmt::format("{}: {}", of, notice));
		}
}

void add_cell(const model::Cell &cell, const std::vector<model::Arm> &arms, const std::vector<Plan> &plans, Plan &all)
{
	const std::string having = some_of(arms, plans, [&](const Plan &plan) { return place_of(cell, plan).has_value(); });
	if (!having.empty()) {
		add_once(all.notices, fmt::format("{}: {} alone can have it: left out", model::title(cell), having));
		return;
	}
	for (size_t i = 0; i < arms.size(); ++i) {
		const size_t at = *place_of(cell, plans[i]);
		all.cells.push_back(plans[i].cells[at]);
		all.cells.back().arm = arms[i].name;
		all.plugin_of_cell.push_back(plans[i].plugin_of_cell[at]);
	}
}

} // namespace

Plan beside_each_other(const std::vector<model::Arm> &arms, const std::vector<Plan> &plans)
{
	Plan all;
	add_notices(arms, plans, all);
	std::vector<model::CellKey> told;
	for (const Plan &plan : plans) {
		for (const std::string &target : plan.missing)
			add_once(all.missing, target);
		for (const model::Cell &cell : plan.cells) {
			const model::CellKey key = model::key_of(cell);
			if (std::ranges::find(told, key) != told.end())
				continue;
			told.push_back(key);
			add_cell(cell, arms, plans, all);
		}
	}
	if (all.cells.empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("--arm: the arms have no cell in common: {}", fmt::join(all.notices, "; ")));
	return all;
}

} // namespace icepath::plan
