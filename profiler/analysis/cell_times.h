// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a cell's messages took, by their stamps.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/analysis/seen_block.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/block_values.h"

namespace icepath::analysis {

struct CellTimes {
	stats::Distribution latency; // unprobed blocks, as all that follow but the last two
	std::optional<stats::Interval> mean_interval; // of latency.mean
	std::vector<stats::Distribution> by_flow; // latency, where there are several flows; in the order of Graph::flows
	// See BlockLatencies.
	stats::Distribution round_trip, first_response, to_all, pacing, from_due, send_call;
	std::optional<double> jitter_ns; // mean of |D| within blocks and directions: see Jitter
	stats::Distribution latency_probed; // probed blocks
	stats::Distribution latency_sampled; // sampled blocks

	void leave_out_beyond(uint64_t measured_ns); // see possible_bounds.h
};

class TimesOf {
public:
	// `most`: values of each quantity that are kept exactly (stats/block_values.h).
	explicit TimesOf(size_t most);
	// Takes the block's times out of it, but for latencies.
	void add(SeenBlock &seen);
	CellTimes take(const model::Cell &cell, stats::ClusteredBy clustered) const;

	const stats::BlockValues &latency() const { return latency_; }
	const stats::BlockValues &latency_probed() const { return latency_probed_; }

private:
	void add_unprobed(SeenBlock &seen);

	size_t most_;
	stats::BlockValues latency_, round_trip_, first_response_, to_all_, pacing_, from_due_, send_call_, latency_probed_,
		latency_sampled_;
	std::vector<stats::BlockValues> by_flow_; // of a cell with several flows
	Jitter jitter_;
};

} // namespace icepath::analysis
