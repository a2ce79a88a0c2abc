// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/compared_figure.h"

#include <cmath>
#include <numbers>

namespace icepath::compare {
namespace {

using analysis::BlockFigures;
using stats::Scale, stats::Trim;

constexpr double kAll = 1;

const std::array<FigureRow, kFigures> &rows()
{
	static const std::array<FigureRow, kFigures> all = {
		{{Figure::Mean, "mean", Scale::Logs, Trim::Fifths, 0, true, &BlockFigures::mean_ns},
		 {Figure::P50, "p50", Scale::Logs, Trim::Fifths, 0, true, &BlockFigures::p50_ns},
		 {Figure::P99, "p99", Scale::Logs, Trim::Nothing, std::numbers::ln10, true, &BlockFigures::p99_ns},
		 {Figure::Slow, "slow_modes", Scale::Plain, Trim::Nothing, kAll, false, &BlockFigures::slow},
		 {Figure::Cpu, "cpu_per_message", Scale::Logs, Trim::Fifths, 0, false, &BlockFigures::cpu_ns},
		 {Figure::Lost, "lost", Scale::Plain, Trim::Nothing, kAll, true, &BlockFigures::lost}}};
	return all;
}

} // namespace

const FigureRow &row_of(Figure figure) { return rows().at(static_cast<size_t>(figure)); }

stats::Margin margin_of(Figure figure, double delta)
{
	const FigureRow &row = row_of(figure);
	if (figure == Figure::Lost)
		return {kLostMargin, row.unseen};
	return {row.scale == stats::Scale::Logs ? std::log1p(delta) : delta, row.unseen};
}

} // namespace icepath::compare
