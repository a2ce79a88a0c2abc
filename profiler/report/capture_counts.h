// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's capture, in all and by block.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"

namespace icepath::report {

struct BlockCapture {
	uint32_t round = 0;
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

	void add(const model::Block &block, size_t others_beside);
};

} // namespace icepath::report
