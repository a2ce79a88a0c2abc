// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the session itself looks at in a block, for its progress and its pace. Results are the report's.
#include <cstdint>

#include "profiler/model/block.h"

namespace icepath::run {

// Of the messages from side 0 to side 1, warm-up included; 0: none came.
double block_p50_us(const model::Block &block);

// Messages that side 1 received, without the warm-up.
uint64_t counted_in(const model::Block &block);

} // namespace icepath::run
