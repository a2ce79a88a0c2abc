// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's message rate.
#include <optional>
#include <vector>

#include "profiler/analysis/seen_block.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/block_values.h"

namespace icepath::analysis {

// Message rate at both ends: of each unprobed block from its first counted message to its last, then the median over
// blocks. Counts messages in both directions. Nothing if no block has two messages.
struct Throughput {
	std::optional<double> sent_per_s, received_per_s;
	std::optional<stats::Interval> received_interval; // of received_per_s, as of a p50
};

class ThroughputOf {
public:
	void add(const SeenBlock &unprobed);
	Throughput take(stats::ClusteredBy clustered) const;

private:
	std::vector<double> sent_per_s_, received_per_s_; // by block
	stats::BlockValues received_mhz_; // one value for each block
};

} // namespace icepath::analysis
