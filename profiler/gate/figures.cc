// SPDX-License-Identifier: Apache-2.0
// The figures that gates are about, each from the analysis that reports show.
#include <algorithm>

#include "profiler/analysis/named_cells.h"
#include "profiler/gate/judge.h"

namespace icepath::gate {
namespace {

using analysis::CellResult;

double share_lost(const CellResult &cell)
{
	return cell.messages.sent > 0 ? static_cast<double>(cell.messages.lost) / static_cast<double>(cell.messages.sent)
								  : 0;
}

// A measured value. Its interval is of this build only where fresh processes measured it.
Measured estimated(const CellResult &cell, double value, const std::optional<stats::Interval> &interval)
{
	Measured measured{value, interval, Reason::None};
	if (!cell.openings.carry_intervals())
		measured.reason = Reason::FewOpenings;
	else if (!interval)
		measured.reason = Reason::NoInterval;
	return measured;
}

std::optional<Measured> percentile_of(const CellResult &cell, size_t which, Reason &why)
{
	const stats::Distribution &latency = cell.times.latency;
	if (!latency.percentiles[which]) {
		why = latency.count > 0 ? Reason::TooFew : Reason::NotMeasured;
		return std::nullopt;
	}
	Measured measured = estimated(cell, static_cast<double>(*latency.percentiles[which]), latency.intervals[which]);
	// A message that never came took longer than any limit.
	if (share_lost(cell) * 100'000 >= 100'000 - stats::kReported[which].per_100000)
		measured.reason = Reason::LostMessages;
	return measured;
}

// `known`: whether they stand for all messages.
Measured layer_of(const CellResult &cell, const analysis::Breakdown &layers, model::Layer layer, bool known)
{
	const auto rows = layers.by_layer();
	const auto row = rows.find(layer);
	Measured measured;
	if (row == rows.end()) // no block has any
		measured = estimated(cell, 0, stats::Interval{0, 0});
	else
		measured = estimated(cell, row->second.mean_ns, layers.means().interval(row->second.by_block));
	if (!known)
		measured.reason = Reason::UnknownPaths;
	return measured;
}

std::optional<Measured> layer_figure(const CellResult &cell, const Expectation &expected, Reason &why)
{
	why = Reason::NoProbes;
	if (cell.paths.complete() == 0)
		return std::nullopt;
	if (expected.figure == Figure::Layer)
		return layer_of(cell, cell.paths.layers, expected.layer, cell.paths.tells_where());
	why = Reason::NoTail;
	if (!cell.ranges.tail || cell.ranges.tail->layers.deliveries() == 0)
		return std::nullopt;
	return layer_of(cell, cell.ranges.tail->layers, expected.layer, cell.ranges.tail->tells_where());
}

std::optional<Measured> rate_of(const CellResult &cell, Reason &why)
{
	why = Reason::NotMeasured;
	if (!cell.search) {
		const auto &per_s = cell.throughput.received_per_s;
		return per_s ? std::optional(estimated(cell, *per_s, cell.throughput.received_interval)) : std::nullopt;
	}
	const rate::FoundRate &found = cell.search->found;
	if (!found.hz)
		return std::nullopt;
	Measured measured{*found.hz, {}, Reason::NoInterval}; // an end beyond all rates that were tried
	if (found.low_hz && found.high_hz)
		measured = {*found.hz, stats::Interval{*found.low_hz, *found.high_hz}, Reason::None};
	return measured;
}

std::optional<Measured> ratio_of(const analysis::RunResult &result, size_t index, const std::string &key, Reason &why)
{
	const std::vector<std::string> texts = analysis::keys_of(result);
	const auto is_meant = [&](const std::string &text) { return matches(key, text); };
	why = Reason::NoOther;
	if (std::ranges::count_if(texts, is_meant) != 1)
		return std::nullopt;
	const auto at = static_cast<size_t>(std::ranges::find_if(texts, is_meant) - texts.begin());
	why = at == index ? Reason::ItsOwnKey : Reason::NotTogether;
	if (at == index)
		return std::nullopt;
	const auto ratio = stats::ratio_within_rounds(result.cells[index].compared, result.cells[at].compared);
	if (!ratio)
		return std::nullopt;
	return Measured{ratio->ratio, ratio->interval,
					ratio->openings < stats::kMinBlocks ? Reason::FewOpenings : Reason::None};
}

std::optional<Measured> lost_of(const CellResult &cell, const Expectation &expected, Reason &why)
{
	why = Reason::NotMeasured;
	if (cell.messages.sent == 0)
		return std::nullopt;
	return Measured{expected.is_share ? share_lost(cell) : static_cast<double>(cell.messages.lost), {}, Reason::None};
}

std::optional<Measured> mean_of(const CellResult &cell)
{
	return estimated(cell, cell.times.latency.mean, cell.times.mean_interval);
}

// The longest that came. What never came took longer.
std::optional<Measured> max_of(const CellResult &cell)
{
	return Measured{
		static_cast<double>(cell.times.latency.max), {}, cell.messages.lost > 0 ? Reason::LostMessages : Reason::None};
}

} // namespace

std::optional<Measured> figure_of(const analysis::RunResult &result, size_t index, const Expectation &expected,
								  Reason &why)
{
	const CellResult &cell = result.cells.at(index);
	why = Reason::NotMeasured;
	switch (expected.figure) {
	case Figure::P50:
	case Figure::P90:
	case Figure::P99:
	case Figure::P99_9:
	case Figure::P99_99:
	case Figure::P99_999:
		return percentile_of(cell, static_cast<size_t>(expected.figure), why);
	case Figure::Mean:
		return cell.times.latency.count > 0 ? mean_of(cell) : std::nullopt;
	case Figure::Max:
		return cell.times.latency.count > 0 ? max_of(cell) : std::nullopt;
	case Figure::Layer:
	case Figure::TailLayer:
		return layer_figure(cell, expected, why);
	case Figure::Cpu:
		return cell.used.cost_ns() ? std::optional(estimated(cell, *cell.used.cost_ns(), cell.used.cost_interval))
								   : std::nullopt;
	case Figure::Lost:
		return lost_of(cell, expected, why);
	case Figure::Rate:
		return rate_of(cell, why);
	case Figure::Ratio:
		return ratio_of(result, index, expected.key, why);
	}
	return std::nullopt;
}

} // namespace icepath::gate
