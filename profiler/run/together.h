// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks that run at the same time, each of another cell, in one capture.
#include <atomic>
#include <vector>

#include "profiler/run/live_cell.h"

namespace icepath::run {

// A window whose round is still to be said, and the blocks of the cells that were measured in it, which don't point to it yet.
struct Measured {
	model::Window window;
	std::vector<model::Block> blocks;
};

// One wish for each cell, all probed or none; the blocks come in the same order. `helper` is needed for probed ones only.
// `stop`, where given, ends them before their time, once it is set, which a signal's handler may do. Throws
// privilege::HelperDied; what a worker does wrong is in its cell's block.
Measured run_together(const std::vector<LiveCell *> &cells, const std::vector<BlockWish> &wishes,
					  const SlotsView &slots, privilege::Helper *helper, const std::atomic<bool> *stop);

// One cell in a window of its own, which the block has.
model::Block run_alone(LiveCell &cell, const BlockWish &wish, const SlotsView &slots, privilege::Helper *helper);

} // namespace icepath::run
