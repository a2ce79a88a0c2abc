// SPDX-License-Identifier: Apache-2.0
#pragma once
// A block as its stamps show it. Whatever needs no path is collected from these, in the order of measuring.
#include <cstdint>

#include "profiler/analysis/messages.h"
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/stats/block_values.h"

namespace icepath::analysis {

struct SeenBlock {
	SeenBlock(const model::Block &block_of, const model::Cell &cell_of);

	const model::Block &block;
	const model::Cell &cell;
	BlockMessages messages;
	stats::SharedValues latencies; // of every flow, one after another
	uint64_t sent = 0; // in every flow, warm-up included

	bool failed() const { return block.end == model::BlockEnd::Failed; }
	bool is_probed() const { return block.window->probed; } // sampled or not
	bool is_sampled() const { return block.window->is_sampled(); }
	bool is_counted() const { return !is_probed() && model::is_counted(block); } // its messages took longer
};

} // namespace icepath::analysis
