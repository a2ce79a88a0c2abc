// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a captured block to what the walk starts from: sorts records per thread and CPU, finds gaps in their sequence,
// and matches each message of the stamps with the events that tell when it was queued, ready and taken.
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

// Everything a worker wrote is untrusted: stamps that can't be true make their delivery incomplete (inverted_time), they
// never break the decoder. Warm-up messages are matched but give no delivery.
// The block's sides and flows are those of the cell.
path::Observations observations_of(const model::Block &block, const model::Cell &cell);

} // namespace icepath::decode
