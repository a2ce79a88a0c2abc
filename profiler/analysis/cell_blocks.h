// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell's blocks show besides layers: its openings, what probes added, and what was captured.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/stats/openings.h"
#include "profiler/stats/paired_blocks.h"
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

// A cell's capture, in all and by block.
struct BlockCapture {
	uint32_t round = 0, opening = 0;
	uint32_t opened_in = 0; // the round of its opening's first block: cells that are opened together have the same
	bool probed = false;
	uint64_t records = 0, dropped = 0, recursion_misses = 0;
	std::optional<uint64_t> unreadable; // records; nothing if the block's paths weren't resolved
	std::optional<uint64_t> steal_ns, own_cpu_ns; // of the block's Window
};

struct CaptureCounts {
	uint64_t records = 0, dropped = 0, bytes = 0; // bytes: uncompressed
	uint64_t recursion_misses = 0;
	// Cells measured at the same time in the same capture: each of them counts all of it.
	size_t beside = 0;
	std::vector<BlockCapture> by_block; // in the order of measuring

	// `slot_records`: number of records in each slot of its window. The records themselves aren't needed.
	void add(const model::Block &block, size_t others_beside, const std::vector<uint64_t> &slot_records);
};

} // namespace icepath::analysis
