// SPDX-License-Identifier: Apache-2.0
#pragma once
// The taking side of a transfer: what the thread does between "ready" and having the message.
#include "profiler/path/handover.h"
#include "profiler/path/tiling.h"

namespace icepath::path {

// Tiles [ready, taken]. `giver`: the thread whose call delivers, for the parts of /notify in which it didn't run.
void tile_taking(const Observations &seen, const Handover &handover, const Place &taker, const Place &giver,
				 const OwnInterrupts &own, Tiling &tiling);

} // namespace icepath::path
