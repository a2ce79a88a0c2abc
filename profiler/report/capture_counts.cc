// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/capture_counts.h"

#include <algorithm>

namespace icepath::report {

void CaptureCounts::add(const model::Block &block)
{
	BlockCapture &one = by_block.emplace_back();
	one.round = block.round;
	one.probed = block.probed;
	for (const model::SlotCapture &slot : block.slots) {
		one.records += slot.records.size();
		one.dropped += slot.position - slot.records.size();
	}
	one.recursion_misses = model::sum_of(block.skipped);
	one.steal_ns = block.steal_ns;
	one.own_cpu_ns = block.own_cpu_ns;
	records += one.records;
	bytes += one.records * sizeof(icepath_record);
	dropped += one.dropped;
	recursion_misses += one.recursion_misses;
	beside = std::max(beside, block.companions.size() / 2); // only cells of two sides take turns
}

} // namespace icepath::report
