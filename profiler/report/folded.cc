// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/folded.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/report/notices.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

// ';' parts frames and the last space parts the weight.
std::string frame_name(const std::string &text)
{
	std::string name = printable(text);
	std::ranges::replace(name, ';', ':');
	return name.empty() ? "?" : name;
}

// Cells that differ in more than target and payload aren't the same measurement: their frames say so.
std::string payload_frame(const rundir::Cell &cell)
{
	std::string text =
		fmt::format("{} {} {}", payload(cell.payload_bytes), pattern_name(cell.pattern), wait_name(cell.wait));
	if (cell.injection.any())
		text += fmt::format(" +{}ns +{}ns", cell.injection.sender_user_ns, cell.injection.receiver_busy_ns);
	return text;
}

} // namespace

Stacks stacks(const RunResult &result)
{
	Stacks all;
	for (const CellResult &cell : result.cells)
		for (const LayerRow &row : cell.layers.rows()) {
			const int layer = static_cast<int>(row.layer);
			std::vector<Frame> stack = {{frame_name(cell.cell.target)},
										{frame_name(payload_frame(cell.cell))},
										{std::string(path::name(row.layer)), layer}};
			if (row.part != path::Part::None)
				stack.push_back({std::string(path::name(row.part)), layer});
			stack.push_back({frame_name(row.thread), layer});
			all[stack] += row.total_ns;
		}
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
