// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread that holds the message: the sender, a relay between taking and giving, the receiver between taking and
// `recv`.
#include "profiler/path/blocking.h"
#include "profiler/path/tiling.h"

namespace icepath::path {

// End of a stretch, with its evidence: the thread's record, or the window's end.
Boundary end_of(const Thread &thread, const Stretch &stretch, const Boundary &window);

// Where a running thread's time may have to be cut.
using Cuts = boost::container::small_vector<Boundary, 8>;

// Appends the begins and ends of the thread's calls within [begin, end).
void cut_at_calls(const Thread &thread, uint64_t begin_ns, uint64_t end_ns, Cuts &cuts);

// Tiles an off-CPU period of a thread that wasn't waiting for this message. `out`: the transfer by which it gives the
// message on, or nullptr.
void tile_off(const OffCpu &off, const Boundary &end, const Place &place, const Transfer *out, Tiling &tiling);

// Tiles the thread's time up to `end`. `out`: the transfer by which it gives the message on, or nullptr. `calls`: its
// calls count as kernel time. `backlog`: an earlier message of the same read kept it busy.
struct Holding {
	const Transfer *out = nullptr;
	bool calls = false;
	bool backlog = false;
};
void tile_holding(const Place &place, const Boundary &end, const Holding &how, const OwnInterrupts &own,
				  Tiling &tiling);

} // namespace icepath::path
