// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/judged.h"

#include <algorithm>
#include <cmath>

#include "profiler/analysis/ranking.h"
#include "profiler/explain/finding.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/ranks.h"

namespace icepath::compare {
namespace {

using analysis::CellResult;
using stats::RoundDifference;

double change_of(const FigureRow &row, double difference)
{
	return row.scale == stats::Scale::Logs ? std::expm1(difference) : difference;
}

stats::Interval change_of(const FigureRow &row, const stats::Interval &interval)
{
	return {change_of(row, interval.low), change_of(row, interval.high)};
}

bool excludes_zero(const stats::Interval &interval) { return interval.low > 0 || interval.high < 0; }

// Why the figure says nothing of the two, whatever was measured.
Why unfit(Figure figure, const CellResult &a, const CellResult &b)
{
	if (a.cell.limits || a.cell.pattern == model::Pattern::Throughput)
		return Why::OwnRate;
	return figure == Figure::Slow && std::max(a.modes.all.size(), b.modes.all.size()) < 2 ? Why::OneMode : Why::None;
}

bool has_other_modes(const CellResult &a, const CellResult &b)
{
	return std::max<size_t>(a.modes.all.size(), 1) != std::max<size_t>(b.modes.all.size(), 1);
}

// By one figure alone.
void set_verdict(const RoundDifference &difference, Judged &judged)
{
	const bool is_told = *judged.p < stats::kToldApart && excludes_zero(*judged.interval);
	const bool is_same = *judged.p_margin < stats::kSame;
	// Losses that are told are never the same: one in a thousand may be one too many.
	if (is_same && !(is_told && judged.figure == Figure::Lost))
		judged.verdict = Verdict::Same;
	else if (is_told)
		judged.verdict = difference.mean > 0 ? Verdict::Slower : Verdict::Faster;
	else {
		judged.verdict = Verdict::Undecided;
		judged.why = Why::Wide;
	}
}

// Why what a cell would have shown may be in no figure.
Why hidden_of(const CellResult &cell, const CellResult &other, const FigureRow &row, bool is_of_one_run)
{
	constexpr size_t kOf = 10, kLeast = 9;
	const size_t has = (cell.block_figures.*row.blocks).size(), others = (other.block_figures.*row.blocks).size();
	if (cell.blocks.failed > 0)
		return Why::FailedBlocks;
	return is_of_one_run && has * kOf < others * kLeast ? Why::MissingBlocks : Why::None;
}

// `b` less `a`.
Judged judged_pair(Figure figure, const CellResult &a, const CellResult &b, double run_s, double delta)
{
	const FigureRow &row = row_of(figure);
	const auto &of_a = a.block_figures.*row.blocks, &of_b = b.block_figures.*row.blocks;
	Judged judged{.figure = figure};
	if (judged.why = unfit(figure, a, b); judged.why != Why::None) {
		judged.verdict = judged.why == Why::OneMode ? Verdict::NotMeasured : Verdict::NotComparable;
		return judged;
	}
	if (of_a.empty() || of_b.empty()) {
		judged.why = of_a.empty() ? Why::NoBlocksInA : Why::NoBlocksInB;
		return judged;
	}
	const auto difference = stats::difference_within_rounds(of_b, of_a, row.scale, row.trim);
	judged.verdict = Verdict::Undecided;
	judged.difference = difference;
	const auto times_until = [&](size_t has) {
		return has > 0 && has < stats::kMinBlocks
				   ? explain::longer_run_s(run_s, explain::number(stats::kMinBlocks) / explain::number(has))
				   : std::nullopt;
	};
	if (!difference) {
		judged.why = Why::TooFewRounds;
		judged.needed_s = times_until(std::min(of_a.size(), of_b.size()));
		return judged;
	}
	if (!difference->is_known()) {
		judged.verdict = Verdict::NotComparable;
		judged.why = Why::LostMessages;
		return judged;
	}
	judged.a = difference->b;
	judged.b = difference->a;
	judged.change = change_of(row, difference->mean);
	judged.interval = change_of(row, difference->interval());
	judged.rounds = difference->rounds;
	judged.openings = difference->openings;
	if (!difference->p) {
		judged.why = Why::TooFewOpenings;
		judged.needed_s = times_until(difference->openings);
		return judged;
	}
	const stats::Margin margin = margin_of(figure, delta);
	judged.p = judged.p_corrected = difference->p;
	judged.p_margin = stats::p_of_margin(*difference, margin);
	set_verdict(*difference, judged);
	return judged;
}

// Where A differs from itself by less than the margin, B has to differ from A by more than that.
bool differs_as_much(const Judged &again, const Judged &judged)
{
	return again.p_corrected && *again.p_corrected < stats::kToldApart && judged.is_told() &&
		   again.interval->low <= judged.interval->high && judged.interval->low <= again.interval->high;
}

// A that differs from itself tells nothing of B, nor does a control that lacks blocks. `again`: A measured once more,
// against A.
void take_control(const ToJudge &cells, const JudgedFigures &again, JudgedFigures &figures)
{
	const bool differs = std::ranges::any_of(again, &Judged::is_told);
	for (size_t i = 0; i < kFigures; ++i) {
		Judged &judged = figures[i];
		judged.control = again[i].change;
		judged.control_interval = again[i].interval;
		if (judged.verdict == Verdict::NotMeasured || judged.verdict == Verdict::NotComparable)
			continue;
		if (differs || differs_as_much(again[i], judged)) {
			judged.verdict = Verdict::ControlDiffers;
			judged.why = Why::ControlDiffers;
		} else if ((!again[i].p && again[i].why != Why::OneMode) || // which A has as well
				   hidden_of(*cells.control, *cells.a, row_of(judged.figure), true) != Why::None) {
			judged.verdict = Verdict::Undecided;
			judged.why = again[i].why == Why::OtherModes ? Why::OtherModes : Why::NoBlocksOfControl;
		}
	}
}

// Modes are found by chance where they are close, so another number of them is no difference by itself. Where times
// differ as well, it is one of their reasons.
void take_other_modes(const CellResult &a, const CellResult &b, JudgedFigures &figures)
{
	Judged &slow = figures[static_cast<size_t>(Figure::Slow)];
	if (!slow.p || !has_other_modes(a, b))
		return;
	const bool is_slower = std::ranges::any_of(figures, [](const Judged &judged) {
		return judged.figure <= Figure::P99 && judged.verdict == Verdict::Slower;
	});
	if (slow.verdict != Verdict::Slower || !is_slower)
		withdraw(Why::OtherModes, slow);
}

JudgedFigures all_figures(const ToJudge &cells, const CellResult &b, double delta)
{
	JudgedFigures figures;
	for (size_t i = 0; i < kFigures; ++i)
		figures[i] = judged_pair(static_cast<Figure>(i), *cells.a, b, cells.run_s, delta);
	if (const Judged &lost = figures[static_cast<size_t>(Figure::Lost)]; lost.a && lost.b)
		take_losses({*lost.a, *lost.b}, excludes_zero(*lost.interval), delta, figures);
	take_other_modes(*cells.a, b, figures);
	return figures;
}

bool may_be_decided(const Judged &judged)
{
	return judged.verdict == Verdict::LeansSlower || judged.verdict == Verdict::LeansFaster ||
		   (judged.verdict == Verdict::Undecided && judged.why == Why::Wide);
}

} // namespace

void withdraw(Why why, Judged &judged)
{
	judged.verdict = Verdict::NotComparable;
	judged.why = why;
	judged.p = judged.p_corrected = judged.p_margin = std::nullopt;
}

void take_losses(const Losses &lost, bool differ, double delta, JudgedFigures &figures)
{
	constexpr double kPartOfDelta = 3;
	const bool is_much = std::max(lost.a, lost.b) > delta / kPartOfDelta;
	for (Judged &judged : figures) {
		if (judged.figure == Figure::Lost || judged.verdict == Verdict::NotMeasured)
			continue;
		if (is_much || differ || judged.why == Why::LostMessages)
			judged.losses = lost;
		if (is_much && !row_of(judged.figure).counts_lost && judged.verdict != Verdict::NotComparable)
			withdraw(Why::LostMessages, judged);
	}
}

void doubt(const ToJudge &cells, Judged &judged)
{
	const FigureRow &row = row_of(judged.figure);
	const bool is_same = judged.verdict == Verdict::Same;
	Why why = Why::None;
	if (is_same || judged.verdict == Verdict::Faster)
		why = cells.is_whole ? hidden_of(*cells.b, *cells.a, row, cells.is_of_one_run) : Why::NotWhole;
	if (why == Why::None && (is_same || judged.verdict == Verdict::Slower))
		why = hidden_of(*cells.a, *cells.b, row, cells.is_of_one_run);
	if (why == Why::None)
		return;
	judged.verdict = Verdict::Undecided;
	judged.why = why;
}

JudgedFigures judged_alone(const ToJudge &cells, double delta)
{
	JudgedFigures figures = all_figures(cells, *cells.b, delta);
	for (Judged &judged : figures)
		doubt(cells, judged);
	if (cells.control) {
		JudgedFigures again = all_figures(cells, *cells.control, delta);
		correct({&again});
		take_control(cells, again, figures);
	}
	return figures;
}

void correct(const std::vector<JudgedFigures *> &all)
{
	std::vector<double *> p;
	for (JudgedFigures *figures : all)
		for (Judged &judged : *figures)
			if (judged.p_corrected)
				p.push_back(&*judged.p_corrected);
	stats::correct(p);
	for (JudgedFigures *figures : all)
		for (Judged &judged : *figures) {
			if (!judged.is_told() || *judged.p_corrected < stats::kToldApart)
				continue;
			judged.verdict = judged.verdict == Verdict::Slower ? Verdict::LeansSlower : Verdict::LeansFaster;
			judged.why = Why::ManyCompared;
		}
}

void announce(const std::vector<JudgedFigures *> &all, double run_s, double delta)
{
	size_t untold = 0;
	for (const JudgedFigures *figures : all)
		untold += static_cast<size_t>(
			std::ranges::count_if(*figures, [](const Judged &judged) { return judged.p && !judged.is_told(); }));
	for (JudgedFigures *figures : all)
		for (Judged &judged : *figures) {
			if (!may_be_decided(judged))
				continue;
			const auto openings = stats::openings_needed(*judged.difference, margin_of(judged.figure, delta),
														 stats::kToldApart / explain::number(untold));
			if (openings && *openings > judged.openings)
				judged.needed_s =
					explain::longer_run_s(run_s, explain::number(*openings) / explain::number(judged.openings));
		}
}

} // namespace icepath::compare
