// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell whose messages have several modes (stats/modes.h): one p50 describes none of them, and falls into whichever
// had more messages in this run. So each mode has its own p50, share and layers.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/aggregate.h"
#include "profiler/model/block.h"
#include "profiler/stats/block_values.h"
#include "profiler/stats/modes.h"

namespace icepath::analysis {

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

// The modes are those of unprobed messages; layers are still empty. Empty if there are fewer than two modes.
std::vector<CellMode> find_modes(const WholeBlocks &blocks, bool by_opening);

// Where a cell's p50 lies: in one mode, or, as far as the run tells, in one of several.
struct ModesOfP50 {
	size_t first = 0, last = 0; // indices
	bool one() const { return first == last; }
};
std::optional<ModesOfP50> modes_of_p50(const CellResult &cell); // nothing without modes or without a p50

// Whether another run may have its p50 in another mode: a p50 isn't shown then.
bool lies_between_modes(const CellResult &cell);

// Whether probes change a mode's share: slow messages without probes are then of other modes than those with them.
bool probes_change_modes(const CellResult &cell);

} // namespace icepath::analysis
