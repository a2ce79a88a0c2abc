// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paths of a cell's messages in probed blocks: how many are known, and where the time of these went.
#include <algorithm>
#include <array>
#include <cstdint>

#include "profiler/analysis/breakdown.h"
#include "profiler/path/path.h"
#include "profiler/resolve/resolve.h"

namespace icepath::analysis {

bool is_known(const path::Path &path); // complete, with segments

// A resolved block of a cell.
struct BlockOfPaths {
	BlockOfPaths(const resolve::ResolvedBlock &resolved_block, uint32_t cluster_of);

	const resolve::ResolvedBlock &resolved;
	uint64_t known = 0; // of its paths
	// Of the evidence, as for percentiles: openings if there are enough of them, otherwise blocks. They are numbered by
	// their rounds, which other cells share.
	uint32_t cluster = 0;
};

struct KnownPaths {
	uint64_t deliveries = 0; // in probed blocks: complete() + all of `incomplete`
	std::array<uint64_t, path::kReasonNames.size()> incomplete{}; // by path::Reason; [None] stays 0
	double deliveries_ns = 0; // latencies of all deliveries
	Breakdown layers;
	Culprits culprits;

	void add(const BlockOfPaths &block);
	uint64_t complete() const { return layers.deliveries(); }
	// The share of messages, or of their time, with a known path: the lesser of the two. The others aren't like them:
	// most overlapped on their way through other threads, and so waited.
	double share_known() const { return std::min(messages_known(), time_known()); }
	double messages_known() const;
	double time_known() const;
	bool tells_where() const { return share_known() >= 0.9; } // enough that their mean stands for all
};

} // namespace icepath::analysis
