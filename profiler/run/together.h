// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs blocks of several cells at the same time, in one capture.
#include <atomic>
#include <vector>

#include "profiler/run/live_cell.h"

namespace icepath::run {

// A window and its blocks, one for each cell. The caller sets the window's round and the blocks' window.
struct Measured {
	model::Window window;
	std::vector<model::Block> blocks;
};

// `wishes`: one for each cell, all probed or none. The blocks come in the same order. `helper`: needed for probed ones
// only. `stop`, if given, ends them early once it is set; a signal handler may set it. Throws privilege::HelperDied; a
// worker's failure is in its cell's block.
Measured run_together(const std::vector<LiveCell *> &cells, const std::vector<BlockWish> &wishes,
					  const privilege::SlotsView &slots, privilege::Helper *helper, const std::atomic<bool> *stop);

} // namespace icepath::run
