// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a captured block to the walk's input: sorts records by thread and CPU, finds gaps in their sequence, and matches
// each stamped message with the events that show when it was queued, ready and taken.
#include "profiler/decode/log.h"
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

// What a window's records show, whichever blocks were measured in it: threads, CPUs, lost records; no messages.
struct DecodedWindow {
	path::Observations seen;
	SocketEvents events;
};
// `others`: threads missing from the window's own list.
DecodedWindow decode_window(const model::Window &window, const std::vector<model::WindowThread> &others = {});

// Everything that a worker wrote is untrusted: impossible stamps make their delivery incomplete (inverted_time) and
// never break the decoder. Warm-up messages are matched but make no delivery. The block's sides and flows are those of
// the cell. `seen`, `events`: of the block's decoded window, which must know the block's threads.
path::Observations observations_of(const model::Block &block, const model::Cell &cell, path::Observations seen,
								   const SocketEvents &events);
bool knows_sides(const model::Window &window, const model::Block &block);
path::Observations observations_of(const model::Block &block, const model::Cell &cell); // decodes it first

} // namespace icepath::decode
