// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/capture_counts.h"

#include <algorithm>

namespace icepath::report {

void CaptureCounts::add(const model::Block &block, size_t others_beside)
{
	BlockCapture &one = by_block.emplace_back();
	one.round = block.window->round;
	one.probed = block.window->probed;
	for (const model::SlotCapture &slot : block.window->slots) {
		one.records += slot.records.size();
		one.dropped += slot.position - slot.first - slot.records.size();
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

} // namespace icepath::report
