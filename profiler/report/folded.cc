// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/folded.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/model/cell_title.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

// ';' separates frames, and the last space the weight.
std::string frame_name(std::string name)
{
	std::ranges::replace(name, ';', ':');
	return name.empty() ? "?" : name;
}

// Cells that differ in more than target and payload are different measurements, so their frames show it.
std::vector<Frame> cell_frames(const model::Cell &cell)
{
	return {{frame_name(cell.target)}, {frame_name(model::variant(cell))}};
}

} // namespace

Stacks stacks(const RunResult &result)
{
	Stacks all;
	for (const CellResult &cell : result.cells)
		for (const LayerRow &row : cell.layers.rows()) {
			const int layer = static_cast<int>(row.layer);
			std::vector<Frame> stack = cell_frames(cell.cell);
			stack.push_back({std::string(model::name(row.layer)), layer});
			if (row.part != model::Part::None)
				stack.push_back({std::string(model::name(row.part)), layer});
			stack.push_back({frame_name(row.thread), layer});
			all[stack] += row.total_ns;
		}
	return all;
}

MessagesOfCells messages_of_cells(const RunResult &result)
{
	MessagesOfCells all;
	for (const CellResult &cell : result.cells)
		if (cell.complete() > 0)
			all[cell_frames(cell.cell)] += cell.complete();
	return all;
}

std::string folded(const Stacks &stacks)
{
	std::string text;
	for (const auto &[stack, ns] : stacks) {
		for (size_t i = 0; i < stack.size(); ++i)
			text += (i == 0 ? "" : ";") + stack[i].name;
		text += fmt::format(" {}\n", ns);
	}
	return text;
}

} // namespace icepath::report
