// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell's openings show: processes that were started anew differ, and latency may drift.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/openings.h"
#include "profiler/stats/trend.h"

namespace icepath::analysis {

// What fresh processes show of a cell's latency: whether its intervals are over openings, whether openings differ, and
// whether the latency drifted from the first opening to the last.
struct CellOpenings {
	uint64_t count = 0; // with latencies of unprobed blocks
	uint64_t failed = 0; // processes that weren't ready to measure, whether the cell was tried again or given up
	stats::Openings p50s; // of all blocks with a p50; an opening's value is that of its unprobed blocks
	// Drift of the unprobed p50 from the first block to the last: over openings if there are enough of them, otherwise
	// over blocks.
	std::optional<stats::Trend> drift;
	// Whether intervals are over openings, and so should overlap another run's. Otherwise they are over blocks, and
	// hold for these processes only.
	bool carry_intervals() const { return count >= stats::kMinBlocks; }
	// Whether the drift is no accident: in a run of `cells` cells, chance makes one of them drift in one run of a
	// hundred.
	bool drifted(size_t cells) const;
};

class OpeningsOf {
public:
	// To be called for every unprobed block with latencies, and for every block with a p50.
	void add_latencies(const model::Block &block);
	void add_p50(const model::Block &block, double p50_ns);
	CellOpenings take() const;

private:
	std::vector<uint32_t> unprobed_; // openings of the blocks, in their order
	std::vector<stats::OpeningBlock> p50s_;
	std::vector<uint64_t> begin_ns_; // in the order of p50s_
};

} // namespace icepath::analysis
