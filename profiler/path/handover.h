// SPDX-License-Identifier: Apache-2.0
#pragma once
// When a message became ready, and which waking delivered it: what one transfer shows apart from its threads'
// timelines.
#include "profiler/path/observations.h"

namespace icepath::path {

// A transfer with `ready` and `taken` determined.
struct Handover {
	const Transfer *transfer = nullptr;
	Boundary ready;
	bool inferred = false;
	Boundary taken; // return of the taking call, or the observation of the slot
	bool slot = false;
};

// Returns None and fills `out`, or returns the reason why not: stamps contradict each other, or nothing bounds "ready".
//
// Without a ready event, or with one after the taking (sk_data_ready runs after the enqueue), a wakeup of the sleeping
// receiver from within the sending call marks "ready". If the giver slept in its call after that wakeup, more of the
// message followed, and the wakeup is only a lower bound. Otherwise "ready" lies between the begin of the sending call
// (or the device queue) and the earlier of two instants: the call's return (unless a device queue lies between), the
// taking.
//
// A slot is stamped before its store. If the giver lost its CPU or was interrupted between the stamp and its next sign
// of life, the store may be later. "Ready" then lies between the stamp and the earlier of that sign and the taking, and
// is placed where the giver ran again.
Reason resolve(const Observations &seen, const Transfer &transfer, const Thread &giver, const Thread &taker,
			   Handover &out);

// Whether this waking delivers the message: by the giver in its sending call, or from the context that announced it
// (same task, same kind of context, before that context ended: an interrupt can't have switched tasks in between).
bool carries(const Handover &handover, const OffCpu &off);

// End of the context that announced the message: a thread that slept for the message was woken by then. 0: not known.
uint64_t announced_until(const Transfer &transfer);

} // namespace icepath::path
