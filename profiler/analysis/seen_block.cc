// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/seen_block.h"

#include <memory>
#include <vector>

namespace icepath::analysis {

SeenBlock::SeenBlock(const model::Block &block_of, const model::Cell &cell_of)
	: block(block_of), cell(cell_of), messages(look_at_messages(block_of, cell_of)),
	  latencies(std::make_shared<const std::vector<uint64_t>>(messages.latencies.all()))
{
	for (const model::BlockFlow &flow : block.flows)
		sent += flow.sends.size();
}

} // namespace icepath::analysis
