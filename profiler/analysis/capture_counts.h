// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was captured of a cell.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"

namespace icepath::analysis {

// A cell's capture, in all and by block.
struct BlockCapture {
	uint32_t round = 0, opening = 0;
	uint32_t opened_in = 0; // the round of its opening's first block: cells that are opened together have the same
	bool probed = false;
	uint64_t records = 0, dropped = 0, recursion_misses = 0;
	std::optional<uint64_t> unreadable; // records; nothing if the block's paths weren't resolved
	std::optional<uint64_t> steal_ns, own_cpu_ns; // of the block's Window
};

struct CaptureCounts {
	uint64_t records = 0, dropped = 0, bytes = 0; // bytes: uncompressed
	uint64_t recursion_misses = 0;
	// Cells measured at the same time in the same capture: each of them counts all of it.
	size_t beside = 0;
	std::vector<BlockCapture> by_block; // in the order of measuring

	// `slot_records`: number of records in each slot of its window. The records themselves aren't needed.
	void add(const model::Block &block, size_t others_beside, const std::vector<uint64_t> &slot_records);
};

} // namespace icepath::analysis
