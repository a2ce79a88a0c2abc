// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a captured block to the walk's input: sorts records by thread and CPU, finds gaps in their sequence, and matches
// each stamped message with the events that show when it was queued, ready and taken.
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

// Everything that a worker wrote is untrusted: impossible stamps make their delivery incomplete (inverted_time) and
// never break the decoder. Warm-up messages are matched but make no delivery. The block's sides and flows are those of
// the cell.
path::Observations observations_of(const model::Block &block, const model::Cell &cell);

} // namespace icepath::decode
