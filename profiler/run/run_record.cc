// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_record.h"

#include <algorithm>

#include "profiler/run/block_glance.h"

namespace icepath::run {

void RunRecord::add(const model::Window &window, std::span<const model::Block> blocks)
{
	if (!writer_)
		writer_ = std::make_unique<rundir::Writer>(directory_, head_);
	writer_->add(window, blocks);
	for (const model::Block &block : blocks)
		counted_[block.cell][window.probed] += counted_in(block);
}

void RunRecord::finish(model::Tail tail)
{
	if (is_full())
		tail.notices.push_back("the run ended before its time was up: its directory has reached the size limit");
	writer_->finish(tail);
}

bool RunRecord::has_messages() const
{
	return std::ranges::any_of(counted_, [](const auto &messages) { return messages[0] + messages[1] > 0; });
}

} // namespace icepath::run
