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
	if (figure != Figure::Slow)
		return Why::None;
	const size_t modes = std::max<size_t>(a.modes.all.size(), 1), others = std::max<size_t>(b.modes.all.size(), 1);
	return modes != others ? Why::OtherModes : modes == 1 ? Why::OneMode : Why::None;
}

void set_needed(const stats::RoundDifference &difference, const stats::Margin &margin, double run_s, Judged &judged)
{
	const auto openings = stats::openings_needed(difference, margin);
	if (openings && *openings > difference.openings)
		judged.needed_s =
			explain::longer_run_s(run_s, static_cast<double>(*openings) / static_cast<double>(difference.openings));
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

// What failed blocks would have shown is in no figure.
void doubt(const CellResult &a, const CellResult &b, Judged &judged)
{
	const bool hidden_of_b =
		b.blocks.failed > 0 && (judged.verdict == Verdict::Same || judged.verdict == Verdict::Faster);
	const bool hidden_of_a =
		a.blocks.failed > 0 && (judged.verdict == Verdict::Same || judged.verdict == Verdict::Slower);
	if (!hidden_of_a && !hidden_of_b)
		return;
	judged.verdict = Verdict::Undecided;
	judged.why = Why::FailedBlocks;
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
	set_needed(*difference, margin, run_s, judged);
	doubt(a, b, judged);
	return judged;
}

// Where A differs from itself by less than the margin, B has to differ from A by more than that.
bool differs_as_much(const Judged &again, const Judged &judged)
{
	return again.p_corrected && *again.p_corrected < stats::kToldApart && judged.is_told() &&
		   again.interval->low <= judged.interval->high && judged.interval->low <= again.interval->high;
}

// A that differs from itself tells nothing of B. `again`: A measured once more, against A.
void take_control(const JudgedFigures &again, JudgedFigures &figures)
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
		} else if (!again[i].p) {
			judged.verdict = Verdict::Undecided;
			judged.why = Why::NoBlocksOfControl;
		}
	}
}

JudgedFigures all_figures(const CellResult &a, const CellResult &b, double run_s, double delta)
{
	JudgedFigures figures;
	for (size_t i = 0; i < kFigures; ++i)
		figures[i] = judged_pair(static_cast<Figure>(i), a, b, run_s, delta);
	return figures;
}

} // namespace

JudgedFigures judged_alone(const ToJudge &cells, double delta)
{
	JudgedFigures figures = all_figures(*cells.a, *cells.b, cells.run_s, delta);
	if (cells.control) {
		JudgedFigures again = all_figures(*cells.a, *cells.control, cells.run_s, delta);
		correct({&again});
		take_control(again, figures);
	}
	return figures;
}

void correct(const std::vector<JudgedFigures *> &all)
{
	std::vector<double> p;
	for (const JudgedFigures *figures : all)
		for (const Judged &judged : *figures)
			if (judged.p)
				p.push_back(*judged.p);
	const std::vector<double> corrected = stats::corrected(p);
	auto next = corrected.begin();
	for (JudgedFigures *figures : all)
		for (Judged &judged : *figures) {
			if (!judged.p)
				continue;
			judged.p_corrected = *next++;
			if (!judged.is_told() || *judged.p_corrected < stats::kToldApart)
				continue;
			judged.verdict = judged.verdict == Verdict::Slower ? Verdict::LeansSlower : Verdict::LeansFaster;
			judged.why = Why::ManyCompared;
		}
}

} // namespace icepath::compare
