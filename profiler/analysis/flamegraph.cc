// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/flamegraph.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "profiler/analysis/named_cells.h"
#include "profiler/failure.h"
#include "profiler/model/cell_title.h"

namespace icepath::analysis {
namespace {

// ';' separates frames of folded stacks.
std::string frame_name(std::string name)
{
	std::ranges::replace(name, ';', ':');
	return name.empty() ? "?" : name;
}

FlameFrame &child_of(FlameFrame &frame, const std::string &name)
{
	const auto at = std::ranges::find(frame.children, name, &FlameFrame::name);
	return at == frame.children.end() ? frame.children.emplace_back(FlameFrame{name}) : *at;
}

std::string thread_of(const LayerRow &row)
{
	const std::string role(path::kRoleNames[static_cast<size_t>(row.role)]);
	const std::string name = row.thread.empty() || row.thread == role ? role : fmt::format("{} ({})", row.thread, role);
	// For a message on its way, the row has the thread that it goes to, whether the sender or an interrupt carries it.
	const bool is_on_way = row.layer == model::Layer::Network && row.part != model::Part::Notify;
	return frame_name(is_on_way ? "to " + name : name);
}

// The frame of its own time.
FlameFrame &own_of(FlameFrame &frame) { return frame.children.empty() ? frame : child_of(frame, kItself); }

// A child of a frame that may have a time of its own, which then needs a frame of its own.
FlameFrame &below(FlameFrame &frame, const std::string &name)
{
	if (frame.children.empty() && frame.kind) {
		FlameFrame own = frame;
		own.name = kItself;
		frame = {frame.name};
		frame.children.push_back(std::move(own));
	}
	return child_of(frame, name);
}

// Divides a time among sampled stacks, to the nanosecond. `row`: a LayerRow or a ThreadRow; `kind_of_stack`: gives a
// stack's kind.
template <class Row, class Kind>
void add_stacks(FlameFrame &thread, const Row &row, const Kind &kind_of_stack,
				const std::vector<Functions::Stack> &stacks)
{
	uint64_t all = 0, taken = 0;
	for (const Functions::Stack &stack : stacks)
		all += stack.samples;
	double given_ns = 0;
	for (const Functions::Stack &stack : stacks) {
		FlameFrame *frame = &thread;
		for (const std::string &function : stack.functions)
			frame = &below(*frame, frame_name(function));
		FlameFrame &own = own_of(*frame);
		own.kind = kind_of_stack(stack);
		own.mean_ns += row.mean_ns * static_cast<double>(stack.samples) / static_cast<double>(all);
		taken += stack.samples;
		const double upto_ns =
			std::round(static_cast<double>(row.total_ns) * static_cast<double>(taken) / static_cast<double>(all));
		own.total_ns += static_cast<uint64_t>(upto_ns - given_ns);
		given_ns = upto_ns;
	}
}

FlameFrame tree_of(const Breakdown &layers, const std::string &title, bool of_library, const Functions *functions)
{
	FlameFrame root{title};
	for (const LayerRow &row : layers.rows()) {
		FlameFrame *frame = &child_of(root, std::string(model::name(row.layer)));
		if (row.part != model::Part::None)
			frame = &child_of(*frame, std::string(model::name(row.part)));
		const LayerKind kind = kind_of(row.layer, row.part, of_library);
		const auto stacks = functions ? functions->stacks_of(row) : std::vector<Functions::Stack>();
		if (!stacks.empty()) {
			add_stacks(child_of(*frame, thread_of(row)), row, [&](const Functions::Stack &) { return kind; }, stacks);
			continue;
		}
		FlameFrame &last = own_of(child_of(*frame, thread_of(row)));
		last.kind = kind;
		last.mean_ns += row.mean_ns;
		last.total_ns += row.total_ns;
	}
	return root;
}

const Breakdown &layers_of(const CellResult &cell, FlameMessages which)
{
	static const Breakdown kNone;
	if (which == FlameMessages::All)
		return cell.paths.layers;
	const std::optional<LatencyRange> &range = which == FlameMessages::Tail ? cell.ranges.tail : cell.ranges.typical;
	return range ? range->layers : kNone;
}

double sum_of(const std::vector<FlameFrame> &frames, double (FlameFrame::*of)() const)
{
	double all = 0;
	for (const FlameFrame &frame : frames)
		all += (frame.*of)();
	return all;
}

} // namespace

double FlameFrame::mean() const { return children.empty() ? mean_ns : sum_of(children, &FlameFrame::mean); }
double FlameFrame::other() const { return children.empty() ? other_ns : sum_of(children, &FlameFrame::other); }
double FlameFrame::width() const
{
	return children.empty() ? std::max(mean_ns, other_ns) : sum_of(children, &FlameFrame::width);
}

FlameGraph flame_graph(const RunResult &result, FlameMessages which, const std::string &only, FlameFunctions functions)
{
	FlameGraph graph;
	const bool shown = functions == FlameFunctions::Shown && which == FlameMessages::All;
	for (const size_t index : cells_named(result, only)) {
		const CellResult &cell = result.cells[index];
		const std::string title = model::title(cell.cell);
		const Breakdown &layers = layers_of(cell, which);
		if (layers.deliveries() == 0)
			continue;
		graph.cells.push_back({model::key_of(cell.cell), frame_name(cell.cell.target),
							   frame_name(model::variant(cell.cell)),
							   tree_of(layers, title, cell.is_of_library(), shown ? &cell.functions : nullptr)});
	}
	return graph;
}

namespace {

std::vector<ThreadRow> rows_of(const ThreadStacks &threads, FlameKind kind)
{
	return kind == FlameKind::OnCpu    ? threads.running()
		   : kind == FlameKind::OffCpu ? threads.asleep()
									   : threads.woken();
}

FlameFrame tree_of_threads(const std::vector<ThreadRow> &rows, const std::string &title, FlameKind kind,
						   bool of_library)
{
	const LayerKind user = of_library ? LayerKind::Library : LayerKind::YourCode;
	const auto kind_of_stack = [&](const Functions::Stack &stack) {
		const bool in_kernel = kind == FlameKind::OffCpu || before_kernel(stack.functions) < stack.functions.size();
		return kind == FlameKind::Wakeup ? LayerKind::Waking : in_kernel ? LayerKind::Kernel : user;
	};
	FlameFrame root{title};
	for (const ThreadRow &row : rows)
		add_stacks(child_of(root, frame_name(row.thread)), row, kind_of_stack,
				   row.stacks.empty() ? std::vector<Functions::Stack>{{{kNotSampled}, 1}} : row.stacks);
	return root;
}

} // namespace

FlameGraph thread_graph(const RunResult &result, FlameKind kind, const std::string &only)
{
	FlameGraph graph{.cells = {}, .other = {}, .missing = {}, .differing = {}, .kind = kind};
	if (std::ranges::none_of(result.cells, [](const CellResult &cell) { return cell.threads.has_stacks(); }))
		throw Failure(ExitCode::Usage, fmt::format("--kind {}: the run has no stacks: record them with `icepath run "
												   "--stacks`, which samples one round in eight",
												   kFlameKindNames[static_cast<size_t>(kind)]));
	for (const size_t index : cells_named(result, only)) {
		const CellResult &cell = result.cells[index];
		const std::string title = model::title(cell.cell);
		const std::vector<ThreadRow> rows = rows_of(cell.threads, kind);
		if (!rows.empty())
			graph.cells.push_back({model::key_of(cell.cell), frame_name(cell.cell.target),
								   frame_name(model::variant(cell.cell)),
								   tree_of_threads(rows, title, kind, cell.is_of_library())});
	}
	return graph;
}

namespace {

void add_other(FlameFrame &now, const FlameFrame &before)
{
	if (before.children.empty() && before.kind) {
		FlameFrame &own = own_of(now);
		own.kind = before.kind;
		own.other_ns += before.mean_ns;
	}
	for (const FlameFrame &child : before.children)
		add_other(below(now, child.name), child);
}

const FlameCell *same_cell(const FlameGraph &graph, const model::CellKey &key)
{
	const auto at = std::ranges::find(graph.cells, key, &FlameCell::key);
	return at == graph.cells.end() ? nullptr : &*at;
}

// That has the title and differs nevertheless.
const FlameCell *namesake(const FlameGraph &graph, const FlameCell &cell)
{
	const auto at =
		std::ranges::find_if(graph.cells, [&](const FlameCell &one) { return one.layers.name == cell.layers.name; });
	return at == graph.cells.end() ? nullptr : &*at;
}

} // namespace

FlameGraph compared(const FlameGraph &now, const FlameGraph &before, const std::string &name)
{
	FlameGraph both{.cells = {}, .other = name, .missing = {}, .differing = {}, .kind = now.kind};
	for (const FlameCell &cell : now.cells) {
		if (const FlameCell *other = same_cell(before, cell.key)) {
			both.cells.push_back(cell);
			add_other(both.cells.back().layers, other->layers);
		} else if (const FlameCell *unlike = namesake(before, cell))
			both.differing.push_back(
				fmt::format("{} ({})", cell.layers.name, fmt::join(model::differing(cell.key, unlike->key), "; ")));
		else
			both.missing.push_back(cell.layers.name);
	}
	for (const FlameCell &cell : before.cells)
		if (!same_cell(now, cell.key) && !namesake(now, cell))
			both.missing.push_back(cell.layers.name);
	return both;
}

} // namespace icepath::analysis
