// SPDX-License-Identifier: Apache-2.0
#pragma once
// What probes added to a cell's latency, and the values by which cells are compared.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::analysis {

// What probes added to latency_ns, in nanoseconds, by blocks with and without them. p99: over pairs in which both
// blocks have enough messages for one.
struct ObserverEffect {
	std::optional<stats::Effect> p50, mean, p99;
};

class ObservedBlocks {
public:
	// Adds a block of a round, and returns its p50 if its messages support one.
	std::optional<double> add(const model::Block &block, std::vector<uint64_t> latencies);
	ObserverEffect effect(stats::Over over) const;
	// Trimmed geometric means, of blocks that have a p50: what ranks compare (stats/round_ratio.h).
	const std::vector<stats::BlockValue> &compared() const { return compared_; }

private:
	std::vector<stats::BlockValue> p50_, mean_, p99_, compared_;
};

} // namespace icepath::analysis
