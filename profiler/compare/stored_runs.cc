// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/stored_runs.h"

#include <algorithm>
#include <cmath>

#include "profiler/analysis/named_cells.h"
#include "profiler/analysis/ranking.h"
#include "profiler/model/cell_key.h"
#include "profiler/stats/distributions.h"

namespace icepath::compare {
namespace {

using analysis::RunResult;
using stats::RoundDifference;

std::optional<size_t> cell_with(const RunResult &run, const model::CellKey &key)
{
	for (size_t i = 0; i < run.cells.size(); ++i)
		if (model::key_of(run.cells[i].cell) == key)
			return i;
	return std::nullopt;
}

bool is_anchor_of(const model::Cell &anchor, const model::Cell &cell)
{
	return analysis::can_be_ranked(anchor) && anchor.target != cell.target &&
		   model::load_of(model::key_of(anchor)) == model::load_of(model::key_of(cell));
}

// The cell of A that is the anchor of `cell`, and that B has as well.
std::optional<size_t> anchor_of(const RunResult &a, const RunResult &b, size_t cell, const std::string &named)
{
	std::vector<size_t> among;
	if (!named.empty())
		among = analysis::cells_named(a, named);
	else
		for (size_t i = 0; i < a.cells.size(); ++i)
			if (a.cells[i].cell.kind == model::kTransport)
				among.push_back(i);
	for (const size_t i : among)
		if (is_anchor_of(a.cells[i].cell, a.cells[cell].cell) && cell_with(b, model::key_of(a.cells[i].cell)))
			return i;
	return std::nullopt;
}

// The figure's logarithm less that of the anchor, within the run's rounds.
std::optional<RoundDifference> over_anchor(const RunResult &run, const FigureRow &row, const model::CellKey &key,
										   const model::CellKey &anchor)
{
	const auto cell = cell_with(run, key), its_anchor = cell_with(run, anchor);
	if (!cell || !its_anchor)
		return std::nullopt;
	return stats::difference_within_rounds(run.cells[*cell].block_figures.*row.blocks,
										   run.cells[*its_anchor].block_figures.*row.blocks, row.scale, row.trim);
}

// How far apart two runs of the same may be, 95 %: nothing where too few are known.
std::optional<double> drift_of(const std::vector<double> &same)
{
	if (same.size() < kLeastRepeats + 1)
		return std::nullopt;
	const auto count = static_cast<double>(same.size());
	double mean = 0, squares = 0;
	for (const double one : same)
		mean += one / count;
	for (const double one : same)
		squares += (one - mean) * (one - mean);
	return stats::t_975(count - 1) * std::sqrt(2 * squares / (count - 1));
}

struct Keys {
	model::CellKey cell, anchor;
};

// Of B over A.
Judged judged_runs(Figure figure, const StoredRun &a, const StoredRun &b, const HowToCompare &how, const Keys &keys)
{
	const FigureRow &row = row_of(figure);
	Judged judged{.figure = figure, .verdict = Verdict::Undecided};
	const auto of_a = over_anchor(*a.run, row, keys.cell, keys.anchor),
			   of_b = over_anchor(*b.run, row, keys.cell, keys.anchor);
	const auto is_short = [](const auto &of) { return !of || (of->is_known() && !of->p); };
	if (is_short(of_a) || is_short(of_b)) {
		judged.why = of_a && of_b ? Why::TooFewOpenings : Why::TooFewRounds;
		return judged;
	}
	if (!of_a->is_known() || !of_b->is_known()) {
		judged.verdict = Verdict::NotComparable;
		judged.why = Why::LostMessages;
		return judged;
	}
	judged.a = of_a->a;
	judged.b = of_b->a;
	const double change = of_b->mean - of_a->mean;
	const double half = std::hypot(of_a->another_run.half_width(), of_b->another_run.half_width());
	judged.change = std::expm1(change);
	judged.interval = {std::expm1(change - half), std::expm1(change + half)};
	judged.rounds = std::min(of_a->rounds, of_b->rounds);
	judged.openings = std::min(of_a->openings, of_b->openings);
	std::vector<double> same = {of_a->mean};
	for (const StoredRun &repeat : how.repeats)
		if (const auto once_more = over_anchor(*repeat.run, row, keys.cell, keys.anchor);
			once_more && once_more->is_known())
			same.push_back(once_more->mean);
	const std::optional<double> drift = drift_of(same);
	if (!drift) {
		judged.why = Why::DriftNotKnown;
		return judged;
	}
	if (std::abs(change) - half <= std::log1p(how.delta) + *drift) {
		judged.why = Why::WithinDrift;
		return judged;
	}
	judged.verdict = change > 0 ? Verdict::Slower : Verdict::Faster;
	return judged;
}

// Of all blocks that have a value, whichever rounds they are of.
std::optional<double> value_of(const FigureRow &row, const analysis::CellResult &cell)
{
	const std::vector<stats::BlockValue> &blocks = cell.block_figures.*row.blocks;
	double sum = 0, count = 0;
	for (const stats::BlockValue &block : blocks)
		if (std::isfinite(block.value) && (row.scale == stats::Scale::Plain || block.value > 0)) {
			sum += row.scale == stats::Scale::Logs ? std::log(block.value) : block.value;
			++count;
		}
	return count == 0 ? std::nullopt
					  : std::optional(row.scale == stats::Scale::Logs ? std::exp(sum / count) : sum / count);
}

// Whatever the rounds, nothing can be said of the figure.
std::optional<Judged> unfit_stored(Figure figure, const StoredRun &a, const StoredRun &b, const Comparison &comparison,
								   const ComparedCell &cell)
{
	const analysis::CellResult &of_a = a.run->cells[*cell.a], &of_b = b.run->cells[*cell.b];
	const auto because = [&](Verdict verdict, Why why) {
		return Judged{.figure = figure,
					  .verdict = verdict,
					  .why = why,
					  .a = value_of(row_of(figure), of_a),
					  .b = value_of(row_of(figure), of_b)};
	};
	if (!analysis::can_be_ranked(of_a.cell))
		return because(Verdict::NotComparable, Why::OwnRate);
	const FigureRow &row = row_of(figure);
	if (figure == Figure::Slow && std::max(of_a.modes.all.size(), of_b.modes.all.size()) < 2)
		return because(Verdict::NotMeasured, Why::OneMode);
	if ((of_a.block_figures.*row.blocks).empty())
		return because(Verdict::NotMeasured, Why::NoBlocksInA);
	if ((of_b.block_figures.*row.blocks).empty())
		return because(Verdict::NotMeasured, Why::NoBlocksInB);
	if (keeps_verdicts(comparison.conditions) || keeps_verdicts(cell.conditions))
		return because(Verdict::NotComparable, Why::Conditions);
	if (row.scale == stats::Scale::Plain)
		return because(Verdict::NotComparable, Why::NoSharedRounds);
	if (!cell.anchor_a)
		return because(Verdict::NotComparable, Why::NoAnchor);
	return std::nullopt;
}

void judge_stored(const StoredRun &a, const StoredRun &b, const HowToCompare &how, Comparison &comparison,
				  ComparedCell &cell)
{
	if (cell.a && cell.b) {
		cell.conditions = differing_cells(a.run->cells[*cell.a].cell, b.run->cells[*cell.b].cell, false);
		cell.anchor_a = anchor_of(*a.run, *b.run, *cell.a, how.anchor);
		if (cell.anchor_a)
			cell.anchor_b = cell_with(*b.run, model::key_of(a.run->cells[*cell.anchor_a].cell));
	}
	for (size_t i = 0; i < kFigures; ++i) {
		const auto figure = static_cast<Figure>(i);
		if (!cell.a || !cell.b) {
			cell.figures[i] = {.figure = figure, .why = cell.a ? Why::OnlyInA : Why::OnlyInB};
			continue;
		}
		const auto without = unfit_stored(figure, a, b, comparison, cell);
		cell.figures[i] =
			without ? *without
					: judged_runs(figure, a, b, how, {cell.key, model::key_of(a.run->cells[*cell.anchor_a].cell)});
	}
	if (!cell.a || !cell.b)
		return;
	const ToJudge cells{.a = &a.run->cells[*cell.a],
						.b = &b.run->cells[*cell.b],
						.is_whole = comparison.is_whole,
						.is_of_one_run = false};
	if (const Judged &lost = cell.figures[static_cast<size_t>(Figure::Lost)]; lost.a && lost.b)
		take_losses({*lost.a, *lost.b}, *lost.a != *lost.b, how.delta, cell.figures);
	for (Judged &judged : cell.figures)
		doubt(cells, judged);
}

} // namespace

Comparison compare_runs(const StoredRun &a, const StoredRun &b, const HowToCompare &how)
{
	Comparison comparison{.a = a.name,
						  .b = b.name,
						  .is_of_one_run = false,
						  .is_whole = a.run->is_whole() && b.run->is_whole(),
						  .delta = how.delta,
						  .conditions = differing_runs(a.run->head, b.run->head),
						  .repeats = how.repeats.size()};
	const auto add = [&](const model::Cell &cell) {
		if (cell.traits.has(model::Trait::NotIpc) ||
			std::ranges::find(comparison.cells, model::key_of(cell), &ComparedCell::key) != comparison.cells.end())
			return;
		ComparedCell &pair = comparison.cells.emplace_back();
		pair.key = model::key_of(cell);
		pair.a = cell_with(*a.run, pair.key);
		pair.b = cell_with(*b.run, pair.key);
		judge_stored(a, b, how, comparison, pair);
	};
	for (const StoredRun *side : {&a, &b})
		for (const analysis::CellResult &cell : side->run->cells)
			add(cell.cell);
	return comparison;
}

} // namespace icepath::compare
