// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell_blocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "profiler/stats/percentile.h"
#include "profiler/stats/round_ratio.h"

namespace icepath::analysis {

bool CellOpenings::drifted(size_t cells) const
{
	constexpr double kByChance = 0.01;
	return drift && drift->p * static_cast<double>(cells) < kByChance;
}

void OpeningsOf::add_latencies(const model::Block &block) { unprobed_.push_back(block.opening); }

void OpeningsOf::add_p50(const model::Block &block, double p50_ns)
{
	p50s_.push_back({block.opening, block.window->probed, p50_ns});
	begin_ns_.push_back(block.window->begin.monotonic_ns);
}

CellOpenings OpeningsOf::take() const
{
	CellOpenings openings;
	openings.count = std::set<uint32_t>(unprobed_.begin(), unprobed_.end()).size();
	openings.p50s = stats::look_at_openings(p50s_);
	// Blocks of one opening are more alike than those of two, so an opening is one value.
	struct Mean {
		double count = 0, log = 0, at_ns = 0;
	};
	std::map<uint64_t, Mean> means; // by opening or by block
	const bool by_opening = openings.count >= stats::kLeastOfTrend;
	for (size_t i = 0; i < p50s_.size(); ++i) {
		if (p50s_[i].treated || p50s_[i].value <= 0)
			continue;
		Mean &mean = means[by_opening ? p50s_[i].opening : i];
		mean.log += std::log(p50s_[i].value);
		mean.at_ns += static_cast<double>(begin_ns_[i]);
		++mean.count;
	}
	std::vector<stats::TimedValue> values;
	for (const auto &[key, mean] : means)
		values.push_back({static_cast<uint64_t>(mean.at_ns / mean.count), std::exp(mean.log / mean.count)});
	openings.drift = stats::trend_of(values);
	return openings;
}

std::optional<double> ObservedBlocks::add(const model::Block &block, std::vector<uint64_t> latencies)
{
	if (!stats::supported(latencies.size(), stats::kP50))
		return std::nullopt;
	std::ranges::sort(latencies);
	const auto of_block = [&](double value) {
		return stats::BlockValue{block.window->round, block.window->probed, value, block.opening};
	};
	const auto percentile = [&](stats::Percentile p) {
		return of_block(static_cast<double>(stats::percentile(latencies, p)));
	};
	p50_.push_back(percentile(stats::kP50));
	mean_.push_back(
		of_block(std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(latencies.size())));
	compared_.push_back(of_block(stats::trimmed_geometric_mean(latencies)));
	if (stats::supported(latencies.size(), stats::kP99))
		p99_.push_back(percentile(stats::kP99));
	return p50_.back().value;
}

ObserverEffect ObservedBlocks::effect(stats::Over over) const
{
	const auto of = [over](const std::vector<stats::BlockValue> &blocks) {
		return stats::paired_difference(stats::neighbours(blocks), over);
	};
	return {of(p50_), of(mean_), of(p99_)};
}

void CaptureCounts::add(const model::Block &block, size_t others_beside, const std::vector<uint64_t> &slot_records)
{
	const bool goes_on = !by_block.empty() && by_block.back().opening == block.opening;
	const uint32_t opened_in = goes_on ? by_block.back().opened_in : block.window->round;
	BlockCapture &one = by_block.emplace_back();
	one.round = block.window->round;
	one.opening = block.opening;
	one.opened_in = opened_in;
	one.probed = block.window->probed;
	for (size_t i = 0; i < slot_records.size(); ++i) {
		const model::SlotCapture &slot = block.window->slots[i];
		one.records += slot_records[i];
		one.dropped += slot.position - slot.first - slot_records[i];
	}
	one.recursion_misses = model::sum_of(block.window->skipped);
	one.steal_ns = block.window->steal_ns;
	one.own_cpu_ns = block.window->own_cpu_ns;
	records += one.records;
	bytes += one.records * sizeof(icepath_record);
	dropped += one.dropped;
	recursion_misses += one.recursion_misses;
	beside = std::max(beside, others_beside);
}

} // namespace icepath::analysis
