// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans each cell's next block: its length, number of messages and rate.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/rate/search.h"
#include "profiler/run/live_cell.h"

namespace icepath::run {

class BlockWishes {
public:
	// `messages`: counted ones per block and flow, at most. `cells` must outlive this.
	BlockWishes(const std::vector<model::Cell> &cells, uint32_t messages);

	// The cell's next block. A cell that seeks its rate ignores `duration_ns`. `count_hardware` and `sample` don't
	// apply to cells that seek their rate. The first applies to blocks without probes, the second to blocks with them.
	BlockWish next(size_t cell, bool probed, bool count_hardware, bool sample, uint64_t duration_ns);
	// The uncounted block that warms fresh processes.
	BlockWish first_block(size_t cell);

	// Whether the cell seeks its highest rate. Its next block takes searching_ns(): slow rates need more than the plan.
	bool seeks_rate(size_t cell) const { return searches_[cell].has_value(); }
	uint64_t searching_ns(size_t cell) const;
	// Further blocks run at the rates that were found, and no longer steer the search.
	void confirm_rates() { confirms_rates_ = true; }
	void learn_rate(const model::Block &block); // only of blocks that the run keeps

	// Learns the time per message from a block without counted messages. Returns the next block's least length.
	uint64_t learn_pace(size_t cell, const model::Block &block);

private:
	void set_rate(BlockWish &wish, size_t cell) const;

	const std::vector<model::Cell> &cells_;
	const uint32_t messages_;
	std::vector<uint32_t> warm_ups_; // by cell
	std::vector<std::optional<rate::RateSearch>> searches_; // by cell
	bool confirms_rates_ = false;
	uint64_t begun_ = 0; // blocks
};

} // namespace icepath::run
