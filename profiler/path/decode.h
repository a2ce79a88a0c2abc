// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a captured block to what the walk starts from: sorts records per thread and CPU, finds gaps in their sequence,
// and matches each message of the stamps with the events that tell when it was queued, ready and taken.
#include "profiler/path/observations.h"
#include "profiler/rundir/block.h"
#include "profiler/rundir/run.h"

namespace icepath::path {

// Everything a worker wrote is untrusted: stamps that can't be true make their delivery incomplete (inverted_time), they
// never break the decoder. Lead-in messages are matched but give no delivery.
// The block's sides and flows are those of the cell.
Observations decode(const rundir::Block &block, const rundir::Cell &cell);

// Which message of the block it is, and the identity that the decoder gives it.
struct MessagePlace {
	size_t flow = 0;
	uint64_t seq = 0;
};
uint64_t message_at(const MessagePlace &place);
MessagePlace place_of(uint64_t message);

} // namespace icepath::path
