// SPDX-License-Identifier: Apache-2.0
#pragma once
// When a message became ready, and which waking delivered it: what one transfer tells beside the timelines of its threads.
#include "profiler/path/observations.h"

namespace icepath::path {

// A transfer whose open questions are answered.
struct Handover {
	const Transfer *transfer = nullptr;
	Boundary ready;
	bool inferred = false;
	Boundary taken; // back from the taking call, or the slot observed
	bool slot = false;
};

// None and `out` filled, or why not: stamps that contradict each other, or nothing to tell "ready" by.
//
// Without a ready event (or with one later than the taking: sk_data_ready fires after the enqueue), a wake of the sleeping
// receiver out of the sending call tells it. If the giver slept in its call after that wake, more of the message came
// after it, and the wake is only a lower bound. Else ready lies between the sending call's begin (or the device queue) and
// the earliest of: the call's return (unless a device queue lies between), the taking.
//
// A slot is stamped before its store. Where the giver lost its CPU or was interrupted between its stamp and the next sign of life, the
// store may have come after that: ready lies between the stamp and the earlier of that sign and the taking, and is placed where the
// giver ran again.
Reason resolve(const Observations &seen, const Transfer &transfer, const Thread &giver, const Thread &taker,
			   Handover &out);

// Whether this waking delivers the message: by the giver in its sending call, or out of the very context that announced
// it (same task, same kind of context, no later than that was over: an interrupt can't have switched tasks between the two).
bool carries(const Handover &handover, const OffCpu &off);

// When whoever announced the message had done with it: who sleeps for it was woken by then. 0: not known.
uint64_t announced_until(const Transfer &transfer);

} // namespace icepath::path
