// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects all figures of a cell: which blocks each of them is of.
#include <cstddef>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/block_figures.h"
#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/cell_openings.h"
#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/cell_times.h"
#include "profiler/analysis/observer_effect.h"
#include "profiler/analysis/resource_use.h"
#include "profiler/analysis/throughput.h"
#include "profiler/model/block.h"
#include "profiler/resolve/resolve.h"

namespace icepath::analysis {

// First pass: what stamps show. Some figures are results from their first block on; the others are described when all
// blocks are known, and are kept here until then.
class StampFigures {
public:
	// `most_values`: of each quantity, kept exactly. `by_block`: CellResult::block_figures as well.
	explicit StampFigures(size_t most_values, bool by_block = false);
	// Adds a block, in the order of measuring.
	void add(const model::Block &block, CellResult &cell);
	void describe(CellResult &cell, const Wanted &wanted) const;

private:
	void add_unprobed(const SeenBlock &seen, CellResult &cell);

	TimesOf times_;
	WholeBlocks whole_; // with probes and without
	OpeningsOf openings_;
	ObservedBlocks observed_;
	ThroughputOf throughput_;
	ResourcesOf resources_;
	bool by_block_;
	BlockFigures block_figures_;
};

// Nothing of what was described ends beyond all that was measured: see possible_bounds.h.
void leave_out_beyond(uint64_t measured_ns, CellResult &cell);

// Second pass: what paths show. Adds a block, in the order of measuring. `captured`: of this block.
void add_paths(const resolve::ResolvedBlock &resolved, const Wanted &wanted, CellResult &cell, BlockCapture &captured);

} // namespace icepath::analysis
