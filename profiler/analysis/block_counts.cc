// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/block_counts.h"

namespace icepath::analysis {

void BlockCounts::add(const model::Block &block)
{
	++(block.window->is_sampled() ? sampled
	   : block.window->probed     ? probed
	   : model::is_counted(block) ? counted
								  : unprobed);
	log_full += block.end == model::BlockEnd::LogFull;
	if (block.end == model::BlockEnd::Failed) {
		++failed;
		failure = block.failure;
	}
}

} // namespace icepath::analysis
