// SPDX-License-Identifier: Apache-2.0
// The figures that gates are about, each from the analysis that reports show.
#include <algorithm>
#include <string_view>
#include <vector>

#include "profiler/analysis/ranking.h"
#include "profiler/gate/judge.h"

namespace icepath::gate {
namespace {

using analysis::CellResult;

double share_lost(const CellResult &cell)
{
	return cell.messages.sent > 0 ? static_cast<double>(cell.messages.lost) / static_cast<double>(cell.messages.sent)
								  : 0;
}

// A message that never came took longer than any limit. `beyond`: the share of messages that the figure leaves out, or
// that lie beyond it, at its slow end. If a tenth as many were lost, it says little of all that were sent.
bool loses_too_much(const CellResult &cell, double beyond)
{
	constexpr double kPart = 0.1;
	return cell.messages.lost > 0 && share_lost(cell) > kPart * beyond;
}

// What was in doubt before isn't beyond a limit for certain either.
void mark_lost(Measured &measured)
{
	if (measured.reason != Reason::None)
		measured.interval.reset();
	measured.reason = Reason::LostMessages;
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
	if (loses_too_much(cell, (100'000 - stats::kReported[which].per_100000) / 100'000.0))
		mark_lost(measured);
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

// Whether a probe that the whole layer rests on doesn't work here, and nothing takes its place: then its time counts as
// another layer's. The head has what rests on a probe as text: "wakeup, network/notify (when a pipe has it)". With a
// condition it is only a part of the layer's time, but for a library's calls: a cell of a library has no others.
bool lacks_probe(const model::Head &head, const model::Cell &cell, model::Layer layer)
{
	const auto rests_on = [&](std::string_view uses) {
		while (!uses.empty()) {
			const size_t end = std::min(uses.find(','), uses.size());
			const std::string_view one = uses.substr(0, end);
			if (one.substr(0, one.find(" (")) == model::name(layer))
				return true;
			uses.remove_prefix(std::min(end + 2, uses.size()));
		}
		return false;
	};
	return std::ranges::any_of(head.probes, [&](const model::ProbeUse &probe) {
		const bool is_whole = probe.probe.starts_with("nothing, ") && !probe.layer.ends_with(')');
		const bool is_of_library = cell.mechanisms.has(model::Mechanism::LibraryCalls) &&
								   probe.probe.starts_with("nothing: all of the library's calls");
		return probe.tier == "none" && (is_whole || is_of_library) && rests_on(probe.layer);
	});
}

std::optional<Measured> layer_figure(const model::Head &head, const CellResult &cell, const Expectation &expected,
									 Reason &why)
{
	why = lacks_probe(head, cell.cell, expected.layer) ? Reason::NoProbeOfLayer : Reason::NoProbes;
	if (why == Reason::NoProbeOfLayer || cell.paths.complete() == 0)
		return std::nullopt;
	if (expected.figure == Figure::Layer) // a lost message is one whose path isn't known
		return layer_of(cell, cell.paths.layers, expected.layer, cell.paths.tells_where() && !loses_too_much(cell, 1));
	why = Reason::NoTail;
	if (!cell.ranges.tail || cell.ranges.tail->layers.deliveries() == 0)
		return std::nullopt;
	Measured measured = layer_of(cell, cell.ranges.tail->layers, expected.layer, cell.ranges.tail->tells_where());
	constexpr double kTail = 0.01;
	if (loses_too_much(cell, kTail))
		mark_lost(measured);
	return measured;
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
	const std::vector<GatedCell> all = gated_cells(result);
	const auto is_meant = [&](const GatedCell &cell) { return means(key, cell); };
	why = Reason::NoOther;
	if (std::ranges::count_if(all, is_meant) != 1)
		return std::nullopt;
	const auto at = static_cast<size_t>(std::ranges::find_if(all, is_meant) - all.begin());
	const CellResult &cell = result.cells[index], &other = result.cells[at];
	why = at == index                                                                 ? Reason::ItsOwnKey
		  : analysis::can_be_ranked(cell.cell) && analysis::can_be_ranked(other.cell) ? Reason::NotTogether
																					  : Reason::OwnRate;
	if (why != Reason::NotTogether)
		return std::nullopt;
	const auto ratio = stats::ratio_within_rounds(result.cells[index].compared, result.cells[at].compared);
	if (!ratio)
		return std::nullopt;
	constexpr double kLeftOut = 0.1; // by stats::trimmed_geometric_mean()
	const bool loses = loses_too_much(cell, kLeftOut) || loses_too_much(other, kLeftOut);
	return Measured{ratio->ratio, ratio->interval,
					loses                                 ? Reason::LostMessages
					: ratio->openings < stats::kMinBlocks ? Reason::FewOpenings
					: other.blocks.failed > 0             ? Reason::FailedBlocks
														  : Reason::None};
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
	Measured measured = estimated(cell, cell.times.latency.mean, cell.times.mean_interval);
	if (cell.messages.lost > 0)
		mark_lost(measured);
	return measured;
}

// Of a message that was sent: one that is lost takes less.
std::optional<Measured> cpu_of(const CellResult &cell)
{
	if (!cell.used.cost_ns())
		return std::nullopt;
	constexpr double kAllowed = 0.1; // of which a tenth
	Measured measured = estimated(cell, *cell.used.cost_ns(), cell.used.cost_interval);
	if (loses_too_much(cell, kAllowed))
		mark_lost(measured);
	return measured;
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
		return layer_figure(result.head, cell, expected, why);
	case Figure::Cpu:
		return cpu_of(cell);
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
