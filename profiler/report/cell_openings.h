// SPDX-License-Identifier: Apache-2.0
#pragma once
// What fresh processes made of a cell's latency: by which blocks its intervals go, whether openings differ, and whether the
// latency drifted from the first of them to the last.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/stats/openings.h"
#include "profiler/stats/trend.h"

namespace icepath::report {

struct CellOpenings {
	uint64_t count = 0; // with latencies without probes
	uint64_t failed = 0; // that didn't come to measure, whatever became of the cell then
	stats::Openings p50s; // of blocks with and without probes, one of each opening: by the unprobed
	// Of the p50 without probes, from the first block to the last: over openings where there are enough of them, else over blocks.
	std::optional<stats::Trend> drift;
	// Intervals are over openings: another run's should overlap them. Else they are over blocks, and of these processes only.
	bool carry_intervals() const { return count >= stats::kMinBlocks; }
	// A drift that is no accident: by so many cells as there are, one run in a hundred says so of any of them by chance.
	bool drifted(size_t cells) const;
};

class OpeningsOf {
public:
	// Every unprobed block with latencies, and every block that has a p50.
	void add_latencies(const model::Block &block);
	void add_p50(const model::Block &block, double p50_ns);
	CellOpenings take() const;

private:
	std::vector<uint32_t> unprobed_; // openings of blocks, in their order
	std::vector<stats::OpeningBlock> p50s_;
	std::vector<uint64_t> begin_ns_; // beside p50s_
};

} // namespace icepath::report
