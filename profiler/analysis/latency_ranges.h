// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages of some latencies, and their paths: the typical ones and the tail.
#include <cstdint>
#include <optional>

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/cell_times.h"
#include "profiler/analysis/known_paths.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/percentile.h"

namespace icepath::analysis {

// Deliveries in probed blocks with a latency from `from_ns` to `to_ns`, both inclusive.
struct LatencyRange {
	uint64_t from_ns = 0, to_ns = UINT64_MAX;
	uint64_t messages = 0; // with such a latency
	Breakdown layers; // of those with a complete path

	bool holds(uint64_t latency_ns) const { return from_ns <= latency_ns && latency_ns <= to_ns; }
	// See KnownPaths::tells_where().
	double share_known() const
	{
		return messages > 0 ? static_cast<double>(layers.deliveries()) / static_cast<double>(messages) : 1;
	}
	bool tells_where() const { return share_known() >= 0.9; }
};

// From p40 to p60 of latency_probed, if it has a p50, and from its p99 on (or another percentile), if it has one. Each
// is a mean over the same messages for every layer, so its layers add up to their latency. Percentiles of layers don't.
struct TypicalAndTail {
	std::optional<LatencyRange> typical, tail;
	Culprits typical_culprits, tail_culprits;
	// Where the tail begins without probes and with them; only if it was asked where the tail begins.
	std::optional<stats::Quantile> tail_begin, tail_begin_probed;

	// `tail_from`: what was asked for. A tail then needs stats::supported() only. `times`: of `values`.
	static TypicalAndTail of(const TimesOf &values, const CellTimes &times, stats::ClusteredBy clustered,
							 std::optional<stats::Percentile> tail_from);
	void leave_out_beyond(uint64_t measured_ns); // see possible_bounds.h
	void add(const BlockOfPaths &block);
	// The same path by path. `path` is known; `known`: paths of the block, those that no range has included.
	void add(const path::Path &path, const path::Observations &seen);
	void end_block(uint64_t known, uint32_t cluster);
	bool tells_typical() const { return typical && typical->tells_where(); } // whatever time the others take
};

} // namespace icepath::analysis
