// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the blocks to come shall be like, cell by cell: how long, of how many messages, at which rate.
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
	// `messages`: counted ones per block and flow, at most. `cells` is the caller's.
	BlockWishes(const std::vector<model::Cell> &cells, uint32_t messages);

	// The cell's next block, of that length where it seeks no rate.
	BlockWish next(size_t cell, bool probed, bool count_hardware, uint64_t duration_ns);
	// Before the first block of fresh processes.
	BlockWish first_block(size_t cell);

	// Whether the cell seeks its highest rate. Then the length of its next block is its own: slow rates take longer than was planned.
	bool seeks_rate(size_t cell) const { return searches_[cell].has_value(); }
	uint64_t searching_ns(size_t cell) const;
	// From now on at the rates that were found, which the blocks then tell the search nothing of.
	void confirm_rates() { confirms_rates_ = true; }
	void learn_rate(const model::Block &block); // of what was kept

	// Of a block in which nothing came: its messages take so long. Returns how long a block must be.
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
