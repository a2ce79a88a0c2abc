// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_record.h"

#include <algorithm>

#include "profiler/run/block_glance.h"

namespace icepath::run {

void RunRecord::add(const model::Block &block)
{
	if (!writer_)
		writer_ = std::make_unique<rundir::Writer>(directory_, head_);
	writer_->add(block);
	counted_[block.cell][block.probed] += counted_in(block);
}

bool RunRecord::has_messages() const
{
	return std::ranges::any_of(counted_, [](const auto &messages) { return messages[0] + messages[1] > 0; });
}

} // namespace icepath::run
