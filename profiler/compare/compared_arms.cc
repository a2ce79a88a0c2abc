// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/compared_arms.h"

#include <algorithm>

#include "profiler/model/arm_builds.h"
#include "profiler/model/cell_key.h"

namespace icepath::compare {
namespace {

using analysis::RunResult;

model::CellKey without_arm(const model::Cell &cell)
{
	model::CellKey key = model::key_of(cell);
	key.arm.clear();
	return key;
}

std::optional<size_t> cell_of(const RunResult &run, const model::CellKey &key, const std::string &arm)
{
	for (size_t i = 0; i < run.cells.size(); ++i)
		if (run.cells[i].cell.arm == arm && without_arm(run.cells[i].cell) == key)
			return i;
	return std::nullopt;
}

// Stamps alone are of no build.
bool is_compared(const model::Cell &cell) { return !cell.traits.has(model::Trait::NotIpc); }

// 0, for unknown, of a run that ended earlier than it was to.
double run_s(const RunResult &run) { return run.is_whole() ? run.head.budget_s : 0; }

void judge(const RunResult &run, Comparison &comparison, ComparedCell &cell)
{
	if (!cell.a || !cell.b) {
		for (size_t i = 0; i < kFigures; ++i)
			cell.figures[i] = {.figure = static_cast<Figure>(i), .why = cell.a ? Why::OnlyInA : Why::OnlyInB};
		return;
	}
	cell.conditions = differing_cells(run.cells[*cell.a].cell, run.cells[*cell.b].cell, true);
	const analysis::CellResult nothing; // of a control that has no such cell
	const analysis::CellResult *control = cell.control                  ? &run.cells[*cell.control]
										  : !comparison.control.empty() ? &nothing
																		: nullptr;
	cell.figures = judged_alone({.a = &run.cells[*cell.a],
								 .b = &run.cells[*cell.b],
								 .control = control,
								 .run_s = run_s(run),
								 .is_whole = run.is_whole()},
								comparison.delta);
	if (!keeps_verdicts(cell.conditions))
		return;
	for (Judged &judged : cell.figures)
		if (judged.verdict != Verdict::NotMeasured)
			withdraw(Why::Conditions, judged);
}

Comparison pair_of(const RunResult &run, const std::string &a, const std::string &b, double delta)
{
	Comparison comparison{.a = a, .b = b, .is_whole = run.is_whole(), .delta = delta};
	const std::string control = model::control_name(a);
	if (const model::Arm *arm = model::find_arm(run.head.arms, control); arm && arm->is_control)
		comparison.control = control;
	const model::Arm *one = model::find_arm(run.head.arms, a), *other = model::find_arm(run.head.arms, b);
	comparison.is_one_build = one && other && !other->is_control && model::is_one_build(*one, *other);
	for (size_t i = 0; i < run.cells.size(); ++i) {
		const model::Cell &cell = run.cells[i].cell;
		if (!is_compared(cell) || (cell.arm != a && cell.arm != b))
			continue;
		const model::CellKey key = without_arm(cell);
		if (std::ranges::find(comparison.cells, key, &ComparedCell::key) != comparison.cells.end())
			continue;
		ComparedCell &pair = comparison.cells.emplace_back();
		pair.key = key;
		pair.a = cell_of(run, key, a);
		pair.b = cell_of(run, key, b);
		if (!comparison.control.empty())
			pair.control = cell_of(run, key, comparison.control);
		judge(run, comparison, pair);
	}
	std::ranges::stable_partition(comparison.cells, [](const ComparedCell &cell) { return cell.a.has_value(); });
	return comparison;
}

// Where the mean's verdict is one that has causes.
void explain_cell(const RunResult &run, ComparedCell &cell)
{
	const Verdict mean = cell.figures[static_cast<size_t>(Figure::Mean)].verdict;
	if (mean == Verdict::Slower || mean == Verdict::LeansSlower || mean == Verdict::Faster ||
		mean == Verdict::LeansFaster)
		cell.against = explain::explain_against(run, *cell.b, *cell.a);
}

} // namespace

std::vector<std::string> arms_of(const model::Head &head, bool with_control)
{
	std::vector<std::string> names;
	for (const model::Arm &arm : head.arms)
		if (with_control || !arm.is_control)
			names.push_back(arm.name);
	return names;
}

std::vector<Comparison> compare_arms(const RunResult &run, const std::vector<std::string> &arms, double delta)
{
	std::vector<Comparison> comparisons;
	for (size_t i = 1; i < arms.size(); ++i)
		comparisons.push_back(pair_of(run, arms[0], arms[i], delta));
	std::vector<JudgedFigures *> all;
	for (Comparison &comparison : comparisons)
		for (ComparedCell &cell : comparison.cells)
			all.push_back(&cell.figures);
	correct(all);
	announce(all, run_s(run), delta);
	for (Comparison &comparison : comparisons)
		for (ComparedCell &cell : comparison.cells)
			explain_cell(run, cell);
	return comparisons;
}

bool Comparison::has_compared() const
{
	return std::ranges::any_of(cells, [](const ComparedCell &cell) {
		return std::ranges::any_of(cell.figures, [](const Judged &judged) { return judged.change.has_value(); });
	});
}

} // namespace icepath::compare
