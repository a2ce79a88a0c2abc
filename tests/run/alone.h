// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks of one cell, with no other cell beside it.
#include <memory>
#include <utility>

#include "profiler/run/together.h"

namespace icepath::run {

// Runs one cell's block, in a window of its own.
inline model::Block run_alone(LiveCell &cell, const BlockWish &wish, const privilege::SlotsView &slots,
							  privilege::Helper *helper)
{
	Measured measured = run_together({&cell}, {wish}, slots, helper, nullptr);
	measured.blocks.front().window = std::make_shared<model::Window>(std::move(measured.window));
	return std::move(measured.blocks.front());
}

} // namespace icepath::run
