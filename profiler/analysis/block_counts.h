// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many blocks a cell has of each kind.
#include <cstdint>
#include <string>

#include "profiler/model/block.h"

namespace icepath::analysis {

// A failed block also counts in one of the others. A counted block is neither probed nor unprobed, nor is a sampled
// one: they serve for counters and for functions only.
struct BlockCounts {
	uint64_t probed = 0, unprobed = 0, counted = 0, sampled = 0, failed = 0;
	uint64_t log_full = 0; // of probed: ended early because a CPU's log was nearly full
	std::string failure; // of the last block that failed

	void add(const model::Block &block);
};

} // namespace icepath::analysis
