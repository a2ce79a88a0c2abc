// SPDX-License-Identifier: Apache-2.0
#pragma once
// Write access to the window of a block, which no other block may share.
#include <memory>

#include "profiler/model/block.h"

namespace icepath::model {

inline Window &own_window(Block &block)
{
	if (block.window.use_count() > 1)
		block.window = std::make_shared<Window>(*block.window);
	return const_cast<Window &>(*block.window); // every window is made as a non-const object
}

} // namespace icepath::model
