// SPDX-License-Identifier: Apache-2.0
#pragma once
// A block's window, to be changed: the block's alone from then on.
#include <memory>

#include "profiler/model/block.h"

namespace icepath::model {

inline Window &own_window(Block &block)
{
	if (block.window.use_count() > 1)
		block.window = std::make_shared<Window>(*block.window);
	return const_cast<Window &>(*block.window); // made as one that isn't const, always
}

} // namespace icepath::model
