// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the probes added, by blocks with and without them.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::report {

// Of latency_ns, nanoseconds. The p99 is of pairs of blocks that both have messages enough for one.
struct ObserverEffect {
	std::optional<stats::Effect> p50, mean, p99;
};

class ObservedBlocks {
public:
	// One block of a round. Its p50, where its messages support one.
	std::optional<double> add(const model::Block &block, std::vector<uint64_t> latencies);
	ObserverEffect effect(stats::Over over) const;

private:
	std::vector<stats::BlockValue> p50_, mean_, p99_;
};

} // namespace icepath::report
