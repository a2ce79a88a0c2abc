// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell_modes.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "profiler/analysis/possible_bounds.h"

namespace icepath::analysis {
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

CellModes CellModes::of(const WholeBlocks &blocks, bool by_opening)
{
	const BlocksOfMessages &unprobed = blocks.of(false), &probed = blocks.of(true);
	const std::vector<stats::ModeRange> ranges = stats::modes_of(unprobed.by_flow());
	// A report shows the place of each mode, and all shares but the last, which follows from them. All of these
	// intervals hold in 95 % of the runs.
	const double said = 2 * static_cast<double>(ranges.size()) - 1;
	CellModes modes;
	modes.of_one_in = blocks.one_in();
	for (const stats::ModeRange &range : ranges)
		modes.all.push_back(mode_in(range, unprobed, probed, by_opening, 0.05 / said));
	if (modes.of_one_in > 1)
		for (CellMode &mode : modes.all)
			mode.range.messages = 0; // is counted with the layers
	return modes;
}

void CellModes::leave_out_beyond(uint64_t measured_ns)
{
	for (CellMode &mode : all)
		analysis::leave_out_beyond(measured_ns, mode.latency);
}

void CellModes::add(const BlockOfPaths &block)
{
	if (all.empty())
		return;
	for (const path::Path &path : block.resolved.paths)
		for (CellMode &mode : all) {
			if (path.recv_ns < path.send_ns || !mode.range.holds(path.recv_ns - path.send_ns))
				continue;
			mode.range.messages += of_one_in > 1;
			if (is_known(path))
				mode.range.layers.add(path, block.resolved.seen);
		}
	for (CellMode &mode : all)
		mode.range.layers.end_block(block.known, block.cluster);
}

std::optional<ModesOfP50> CellModes::of_p50(const stats::Distribution &latency) const
{
	if (all.empty() || !latency.percentiles[0])
		return std::nullopt;
	const stats::Interval p50 = latency.intervals[0].value_or(stats::Interval());
	ModesOfP50 of{all.size() - 1, 0};
	for (size_t i = 0; i < all.size(); ++i) {
		const CellMode &mode = all[i];
		const auto from = static_cast<double>(mode.range.from_ns), to = static_cast<double>(mode.range.to_ns);
		// The faster half of the messages may end in this mode: by the p50 and its interval, or by the shares and
		// theirs.
		const auto half_of = [](const CellMode &one, bool low) {
			const auto &interval = one.share_up_to.interval;
			return !interval ? one.share_up_to.value() : low ? interval->low : interval->high;
		};
		const bool by_share = (i == 0 || half_of(all[i - 1], true) < 0.5) && half_of(mode, false) >= 0.5;
		if (mode.range.holds(*latency.percentiles[0]) || (p50.low <= to && p50.high >= from) || by_share) {
			of.first = std::min(of.first, i);
			of.last = std::max(of.last, i);
		}
	}
	return of;
}

bool CellModes::changed_by_probes() const { return std::ranges::any_of(all, &CellMode::changed_by_probes); }

} // namespace icepath::analysis
