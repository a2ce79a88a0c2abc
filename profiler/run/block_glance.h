// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the session itself reads from a block, for its progress line and its pace. The report computes results.
#include <cstdint>

#include "profiler/model/block.h"

namespace icepath::run {

// Median latency of flow 0, warm-up included; 0: no message arrived.
double block_p50_us(const model::Block &block);

// Messages received on flow 0, without the warm-up.
uint64_t counted_in(const model::Block &block);

} // namespace icepath::run
