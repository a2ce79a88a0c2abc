// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/cell_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

std::vector<stats::Counted> counted(const BlocksOfMessages &blocks, const stats::ModeRange &range, bool by_opening)
{
	std::vector<stats::Counted> counts;
	for (size_t i = 0; i < blocks.latency.size(); ++i)
		counts.push_back({static_cast<uint64_t>(std::ranges::count_if(
							  *blocks.latency[i], [&](uint64_t latency) { return range.holds(latency); })),
						  blocks.latency[i]->size(), by_opening ? blocks.opening[i] : static_cast<uint32_t>(i)});
	return counts;
}

std::optional<stats::Effect> added_by_probes(const BlocksOfMessages &unprobed, const BlocksOfMessages &probed,
											 const stats::ModeRange &range, bool by_opening)
{
	std::vector<stats::BlockValue> shares;
	for (const bool with_probes : {false, true}) {
		const BlocksOfMessages &blocks = with_probes ? probed : unprobed;
		const std::vector<stats::Counted> counts = counted(blocks, range, by_opening);
		for (size_t i = 0; i < counts.size(); ++i)
			if (counts[i].of > 0)
				shares.push_back({blocks.round[i], with_probes,
								  static_cast<double>(counts[i].count) / static_cast<double>(counts[i].of),
								  blocks.opening[i]});
	}
	return stats::paired_difference(stats::neighbours(shares), by_opening ? stats::Over::Openings : stats::Over::Pairs);
}

// `outside`: of each interval.
CellMode mode_in(const stats::ModeRange &range, const BlocksOfMessages &unprobed, const BlocksOfMessages &probed,
				 bool by_opening, double outside)
{
	CellMode mode;
	std::vector<std::vector<uint64_t>> within;
	for (const stats::SharedValues &block : unprobed.latency)
		std::ranges::copy_if(*block, std::back_inserter(within.emplace_back()),
							 [&](uint64_t latency) { return range.holds(latency); });
	mode.latency = stats::describe(within, by_opening ? unprobed.opening : std::vector<uint32_t>(), outside);
	mode.share = stats::share_of(counted(unprobed, range, by_opening), outside);
	mode.share_up_to = stats::share_of(counted(unprobed, {0, range.to}, by_opening));
	mode.share_probed = stats::share_of(counted(probed, range, by_opening), outside);
	mode.share_added = added_by_probes(unprobed, probed, range, by_opening);
	mode.range.from_ns = range.from;
	mode.range.to_ns = range.to;
	mode.range.messages = mode.share_probed.count;
	return mode;
}

// `least_half`: the least that stands after ±, in %.
std::string text_of_share(const stats::Share &share, int decimals, double least_half)
{
	const double value = 100 * share.value();
	if (!share.interval)
		return fmt::format("{:.{}f} %", value, decimals);
	const auto &[low, high] = *share.interval;
	return is_lopsided(share.value(), *share.interval)
			   ? fmt::format("{0:.{3}f} ({1:.{3}f}..{2:.{3}f}) %", value, 100 * low, 100 * high, decimals)
			   : fmt::format("{0:.{2}f} ±{1:.{2}f} %", value, std::max(least_half, 50 * (high - low)), decimals);
}

} // namespace

bool CellMode::seen_with_probes() const
{
	return range.layers.deliveries() >= kLeastSeen && range.layers.blocks_with_deliveries() >= kLeastBlocksSeen;
}

bool CellMode::changed_by_probes() const
{
	return share_added && share_added->interval && (share_added->interval->low > 0 || share_added->interval->high < 0);
}

std::vector<stats::BlockFlowValues> BlocksOfMessages::by_flow() const
{
	std::vector<stats::BlockFlowValues> all;
	const size_t flows = of_flow.empty() ? 0 : of_flow.front().size();
	for (size_t flow = 0; flow < flows; ++flow)
		for (size_t block = 0; block < latency.size(); ++block) {
			const std::vector<size_t> &sizes = of_flow[block];
			const size_t before = std::accumulate(sizes.data(), sizes.data() + flow, size_t{0});
			all.push_back({std::span(*latency[block]).subspan(before, sizes[flow]), block});
		}
	return all;
}

void WholeBlocks::add(const model::Block &block, const stats::SharedValues &latencies,
					  const std::vector<std::vector<uint64_t>> &by_flow)
{
	const uint32_t round = block.window->round;
	if (!keeps(round))
		return;
	BlocksOfMessages &blocks = blocks_[block.window->probed];
	blocks.latency.push_back(latencies);
	std::vector<size_t> &of_flow = blocks.of_flow.emplace_back();
	for (const std::vector<uint64_t> &flow : by_flow)
		of_flow.push_back(flow.size());
	blocks.opening.push_back(block.opening);
	blocks.round.push_back(round);
	kept_ += latencies->size();
	while (kept_ > most_ && round / kTogether >= 3 * one_in_)
		keep_fewer();
}

void WholeBlocks::keep_fewer()
{
	one_in_ *= 2;
	kept_ = 0;
	for (BlocksOfMessages &blocks : blocks_) {
		BlocksOfMessages fewer;
		for (size_t i = 0; i < blocks.round.size(); ++i)
			if (keeps(blocks.round[i])) {
				kept_ += blocks.latency[i]->size();
				fewer.latency.push_back(std::move(blocks.latency[i]));
				fewer.of_flow.push_back(std::move(blocks.of_flow[i]));
				fewer.opening.push_back(blocks.opening[i]);
				fewer.round.push_back(blocks.round[i]);
			}
		blocks = std::move(fewer);
	}
}

std::vector<CellMode> find_modes(const WholeBlocks &blocks, bool by_opening)
{
	const BlocksOfMessages &unprobed = blocks.of(false), &probed = blocks.of(true);
	const std::vector<stats::ModeRange> ranges = stats::modes_of(unprobed.by_flow());
	// A report shows the place of each mode, and all shares but the last, which follows from them. All of these
	// intervals hold in 95 % of the runs.
	const double said = 2 * static_cast<double>(ranges.size()) - 1;
	std::vector<CellMode> modes;
	for (const stats::ModeRange &range : ranges)
		modes.push_back(mode_in(range, unprobed, probed, by_opening, 0.05 / said));
	if (blocks.one_in() > 1)
		for (CellMode &mode : modes)
			mode.range.messages = 0; // is counted with the layers
	return modes;
}

std::optional<ModesOfP50> modes_of_p50(const CellResult &cell)
{
	if (cell.modes.empty() || !cell.latency.percentiles[0])
		return std::nullopt;
	const stats::Interval p50 = cell.latency.intervals[0].value_or(stats::Interval());
	ModesOfP50 of{cell.modes.size() - 1, 0};
	for (size_t i = 0; i < cell.modes.size(); ++i) {
		const CellMode &mode = cell.modes[i];
		const auto from = static_cast<double>(mode.range.from_ns), to = static_cast<double>(mode.range.to_ns);
		// The faster half of the messages may end in this mode: by the p50 and its interval, or by the shares and
		// theirs.
		const auto half_of = [](const CellMode &one, bool low) {
			const auto &interval = one.share_up_to.interval;
			return !interval ? one.share_up_to.value() : low ? interval->low : interval->high;
		};
		const bool by_share = (i == 0 || half_of(cell.modes[i - 1], true) < 0.5) && half_of(mode, false) >= 0.5;
		if (mode.range.holds(*cell.latency.percentiles[0]) || (p50.low <= to && p50.high >= from) || by_share) {
			of.first = std::min(of.first, i);
			of.last = std::max(of.last, i);
		}
	}
	return of;
}

std::string share_text(const stats::Share &share) { return text_of_share(share, 1, 0); }
std::string brief_share_text(const stats::Share &share) { return text_of_share(share, 0, 1); }

bool lies_between_modes(const CellResult &cell)
{
	const auto of = modes_of_p50(cell);
	return of && !of->one();
}

std::string whole_p50_text(const CellResult &cell)
{
	if (lies_between_modes(cell))
		return "–";
	return (cell.modes.empty() ? "" : "*") + percentile_text(cell.latency, 0);
}

std::string p50_text(const CellResult &cell)
{
	const auto of = modes_of_p50(cell);
	if (!of)
		return "";
	return of->one() ? fmt::format("the p50 lies in mode {}", of->first + 1)
					 : fmt::format("the p50 lies between modes {} and {}", of->first + 1, of->last + 1);
}

bool probes_change_modes(const CellResult &cell)
{
	return std::ranges::any_of(cell.modes, &CellMode::changed_by_probes);
}

std::string probes_text(const CellResult &cell)
{
	std::string changed, unseen;
	for (size_t i = 0; i < cell.modes.size(); ++i) {
		const CellMode &mode = cell.modes[i];
		if (mode.changed_by_probes())
			changed +=
				fmt::format("{} of mode {} from {:.1f} to {:.1f} %", changed.empty() ? "probes change the share" : ",",
							i + 1, 100 * mode.share.value(), 100 * mode.share_probed.value());
		if (!mode.seen_with_probes())
			unseen += fmt::format("{}mode {} is not seen with probes", unseen.empty() ? "" : ", ", i + 1);
	}
	return changed + (changed.empty() || unseen.empty() ? "" : "; ") + unseen;
}

std::string modes_sentence(const CellResult &cell)
{
	std::string text = fmt::format("{} modes: ", cell.modes.size());
	for (size_t i = 0; i < cell.modes.size(); ++i) {
		const CellMode &mode = cell.modes[i];
		text += fmt::format("{}{} µs ({}{})",
							i == 0                      ? ""
							: i + 1 < cell.modes.size() ? ", "
														: " and ",
							percentile_text(mode.latency, 0), share_text(mode.share), i == 0 ? " of messages" : "");
	}
	const std::string p50 = p50_text(cell);
	return text + (p50.empty() ? "" : "; " + p50);
}

} // namespace icepath::report
