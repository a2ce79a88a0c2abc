// SPDX-License-Identifier: Apache-2.0
#pragma once
// What probes added, by blocks with and without them.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::report {

// On latency_ns, in nanoseconds. p99: over pairs in which both blocks have enough messages for one.
struct ObserverEffect {
	std::optional<stats::Effect> p50, mean, p99;
};

class ObservedBlocks {
public:
	// Adds a block of a round, and returns its p50 if its messages support one.
	std::optional<double> add(const model::Block &block, std::vector<uint64_t> latencies);
	ObserverEffect effect(stats::Over over) const;

private:
	std::vector<stats::BlockValue> p50_, mean_, p99_;
};

} // namespace icepath::report
