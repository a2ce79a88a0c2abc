// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/capture_counts.h"

#include <algorithm>

namespace icepath::analysis {

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
