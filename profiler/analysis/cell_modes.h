// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell whose messages have several modes (stats/modes.h): one p50 describes none of them, and falls into whichever
// had more messages in this run. So each mode has its own p50, share and layers.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/analysis/known_paths.h"
#include "profiler/analysis/latency_ranges.h"
#include "profiler/model/block.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/block_values.h"
#include "profiler/stats/cluster_share.h"
#include "profiler/stats/modes.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::analysis {

// One of several modes of a cell's messages.
struct CellMode {
	LatencyRange range; // from valley to valley; messages and layers are those with probes
	stats::Distribution latency; // of unprobed blocks, within the range
	stats::Share share, share_probed; // of all messages of unprobed and of probed blocks
	stats::Share share_up_to; // of unprobed messages in this mode and in faster ones
	std::optional<stats::Effect> share_added; // what probes added to the share, by blocks with and without them

	static constexpr uint64_t kLeastSeen = 50; // messages with a complete path
	static constexpr size_t kLeastBlocksSeen = 5;
	bool seen_with_probes() const; // enough of it for layers
	bool tells_where() const { return seen_with_probes() && range.tells_where(); } // whose mean stands for all
	bool changed_by_probes() const; // the interval of share_added excludes 0
};

// Latencies of a cell's blocks, with or without probes, in the order of measuring.
struct BlocksOfMessages {
	std::vector<stats::SharedValues> latency; // of each block, flow by flow
	std::vector<std::vector<size_t>> of_flow; // how many of them are of each flow
	std::vector<uint32_t> opening, round; // of each block

	std::vector<stats::BlockFlowValues> by_flow() const; // all blocks of a flow, then those of the next one
};

// The blocks of a cell in which modes are looked for: each with all of its latencies, because modes are judged block by
// block. Of a long run they are those of every second group of eight rounds, of every fourth and so on, so that no more
// than `most` latencies are kept, or those of three groups: two are always whole, since modes take more blocks than one
// group has (stats/modes.cc). A group has rounds in ABBA, then BAAB order.
class WholeBlocks {
public:
	explicit WholeBlocks(size_t most) : most_(most) {}
	// `by_flow`: the same latencies.
	void add(const model::Block &block, const stats::SharedValues &latencies,
			 const std::vector<std::vector<uint64_t>> &by_flow);
	uint32_t one_in() const { return one_in_; } // groups of kTogether rounds
	const BlocksOfMessages &of(bool probed) const { return blocks_[probed]; }

private:
	bool keeps(uint32_t round) const { return round / kTogether % one_in_ == 0; }
	void keep_fewer();

	static constexpr uint32_t kTogether = 8;
	size_t most_, kept_ = 0;
	uint32_t one_in_ = 1;
	std::array<BlocksOfMessages, 2> blocks_;
};

// Where a cell's p50 lies: in one mode, or, as far as the run tells, in one of several.
struct ModesOfP50 {
	size_t first = 0, last = 0; // indices
	bool one() const { return first == last; }
};

struct CellModes {
	std::vector<CellMode> all; // the fastest first; empty if the messages have one mode, as far as the run shows
	uint32_t of_one_in = 1; // modes of a long run rest on one in so many groups of rounds: see WholeBlocks

	// The modes are those of unprobed messages; layers are still empty.
	static CellModes of(const WholeBlocks &blocks, bool by_opening);
	void leave_out_beyond(uint64_t measured_ns); // see possible_bounds.h
	void add(const BlockOfPaths &block);
	// `latency`: of the cell. Nothing without modes or without a p50.
	std::optional<ModesOfP50> of_p50(const stats::Distribution &latency) const;
	// Slow messages without probes are then of other modes than those with them.
	bool changed_by_probes() const;
};

} // namespace icepath::analysis
