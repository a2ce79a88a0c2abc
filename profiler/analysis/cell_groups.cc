// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell_groups.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>

#include "profiler/model/cell_title.h"

namespace icepath::analysis {
namespace {

// What cells can have in common, in the order in which a heading says it.
enum Property : size_t { kPattern, kWait, kSize, kIdleStates, kPlace, kLevels, kProperties };
using Properties = std::array<std::string, kProperties>;

Properties properties_of(const model::Cell &cell, bool idle_states_differ)
{
	model::CellKey without_qos = model::key_of(cell); // quality of service belongs to the target
	without_qos.qos = {};
	without_qos.arm.clear(); // and so does the arm
	std::string levels = model::levels_text(without_qos);
	levels.erase(0, levels.find_first_not_of(' '));
	return {std::string(model::name(cell.pattern)),
			std::string(model::name(cell.wait)),
			size_text(cell),
			cell.idle_states == model::IdleStates::Held ? "CPUs kept awake"
			: idle_states_differ                        ? "the machine's own idle states"
														: "",
			model::between(cell) == model::Between::Processes ? "" : std::string(model::name(model::between(cell))),
			levels};
}

std::string joined(const Properties &properties, const std::set<size_t> &which, const char *between)
{
	std::string text;
	for (const size_t one : which)
		if (!properties[one].empty())
			text += (text.empty() ? "" : between) + properties[one];
	return text;
}

size_t groups_by(const std::map<size_t, Properties> &cells, const std::set<size_t> &which)
{
	std::set<std::string> headings;
	for (const auto &[cell, properties] : cells)
		headings.insert(joined(properties, which, "\n"));
	return headings.size();
}

// The properties that go into headings.
std::set<size_t> properties_of_groups(const std::map<size_t, Properties> &cells)
{
	std::set<size_t> which;
	for (size_t one = 0; one < kProperties; ++one)
		which.insert(one);
	while (groups_by(cells, which) > 1 && groups_by(cells, which) * 2 > cells.size())
		which.erase(*std::ranges::max_element(which, {}, [&](size_t one) { return groups_by(cells, {one}); }));
	return which;
}

double p50_of(const CellResult &cell)
{
	return cell.times.latency.percentiles[0] ? static_cast<double>(*cell.times.latency.percentiles[0])
											 : std::numeric_limits<double>::infinity();
}

void sort_cells(std::vector<size_t> &cells, const RunResult &result)
{
	std::ranges::stable_sort(cells, {}, [&](size_t cell) { return p50_of(result.cells[cell]); });
	for (const RankedGroup &ranked : result.ranking) {
		const auto place = [&](size_t cell) {
			return std::ranges::find(ranked.cells, cell, &RankedCell::cell) - ranked.cells.begin();
		};
		if (std::ranges::all_of(cells, [&](size_t cell) {
				return is_floor(result.cells[cell].cell) || place(cell) < std::ssize(ranked.cells);
			}))
			std::ranges::stable_sort(cells, {}, place);
	}
	// The arms of a target stand beside each other, in their order, where the first of them stands.
	std::map<std::string, size_t> places; // by target
	for (const size_t cell : cells)
		places.try_emplace(result.cells[cell].cell.target, places.size());
	if (!result.head.arms.empty())
		std::ranges::stable_sort(cells, {}, [&](size_t cell) {
			const model::Cell &of = result.cells[cell].cell;
			return std::pair(places.at(of.target), model::find_arm(result.head.arms, of.arm));
		});
	std::ranges::stable_partition(cells, [&](size_t cell) { return is_floor(result.cells[cell].cell); });
}

// Stamps alone are the floor of every cell with the same messages, however its receiver waits.
CellGroup *group_over(std::vector<CellGroup> &groups, const RunResult &result, const model::Cell &floor)
{
	const auto found = std::ranges::find_if(groups, [&](const CellGroup &group) {
		const model::Cell &cell = result.cells[group.cells[0]].cell;
		return cell.pattern == floor.pattern && cell.payload_bytes == floor.payload_bytes &&
			   model::between(cell) == model::between(floor);
	});
	return found == groups.end() ? nullptr : &*found;
}

} // namespace

bool is_floor(const model::Cell &cell) { return cell.traits.has(model::Trait::NotIpc) && !model::injects(cell.levels); }

std::string size_text(const model::Cell &cell)
{
	return model::payload_text(cell.payload_bytes) + (cell.parts > 1 ? fmt::format(" in {}", cell.parts) : "");
}

GroupedCells grouped_cells(const RunResult &result)
{
	std::map<size_t, Properties> cells, floors;
	const bool idle_states_differ = std::ranges::any_of(result.cells, [&](const CellResult &cell) {
		return cell.cell.idle_states != result.cells[0].cell.idle_states;
	});
	for (size_t i = 0; i < result.cells.size(); ++i)
		if (const CellResult &cell = result.cells[i]; cell.blocks.probed + cell.blocks.unprobed > 0)
			(is_floor(cell.cell) ? floors : cells).emplace(i, properties_of(cell.cell, idle_states_differ));
	if (cells.empty())
		cells.swap(floors);

	const std::set<size_t> in_heading = properties_of_groups(cells);
	std::set<size_t> in_label;
	for (size_t one = 0; one < kProperties; ++one)
		if (!in_heading.contains(one))
			in_label.insert(one);
	GroupedCells grouped;
	grouped.labels.resize(result.cells.size());
	const auto label = [&](size_t cell, const Properties &properties, const std::set<size_t> &which) {
		std::string text = joined(properties, which, " ");
		const std::string qos = model::text(result.cells[cell].cell.qos);
		const std::string &arm = result.cells[cell].cell.arm;
		grouped.labels[cell] = result.cells[cell].cell.target + (text.empty() ? "" : " " + text) +
							   (qos.empty() ? "" : " " + qos) + (arm.empty() ? "" : " " + arm);
	};
	const auto add_to = [&](const std::string &heading, size_t cell) {
		const auto found = std::ranges::find(grouped.groups, heading, &CellGroup::heading);
		(found == grouped.groups.end() ? grouped.groups.emplace_back(CellGroup{heading, {}}) : *found)
			.cells.push_back(cell);
	};
	for (const auto &[cell, properties] : cells) {
		label(cell, properties, in_label);
		add_to(joined(properties, in_heading, ", "), cell);
	}
	for (const auto &[cell, properties] : floors) {
		std::set<size_t> which = in_label;
		which.erase(kWait); // it has none to speak of
		label(cell, properties, which);
		if (CellGroup *over = group_over(grouped.groups, result, result.cells[cell].cell))
			over->cells.push_back(cell);
		else
			add_to(joined(properties, in_heading, ", "), cell);
	}
	for (CellGroup &group : grouped.groups)
		sort_cells(group.cells, result);
	return grouped;
}

namespace {

// Several cells may have the same one.
std::string briefest_title(const RunResult &result, const model::Cell &cell)
{
	std::string title = fmt::format("{} {}", cell.target, model::payload_text(cell.payload_bytes));
	const auto add_where_several = [&](auto of) {
		if (std::ranges::any_of(result.cells, [&](const CellResult &other) { return other.cell.*of != cell.*of; }))
			title += fmt::format(" {}", model::name(cell.*of));
	};
	add_where_several(&model::Cell::pattern);
	add_where_several(&model::Cell::wait);
	return title;
}

} // namespace

std::string brief_title(const RunResult &result, const model::Cell &cell)
{
	const auto is_of_one = [&](const auto &title_of) {
		return std::ranges::count_if(
				   result.cells, [&](const CellResult &other) { return title_of(other.cell) == title_of(cell); }) == 1;
	};
	if (is_of_one([&](const model::Cell &of) { return briefest_title(result, of); }))
		return briefest_title(result, cell);
	return model::title(cell) + (is_of_one([](const model::Cell &of) { return model::title(of); }) ? ""
								 : cell.idle_states == model::IdleStates::Own ? " (own idle states)"
																			  : " (CPUs kept awake)");
}

} // namespace icepath::analysis
