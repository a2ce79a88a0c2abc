// SPDX-License-Identifier: Apache-2.0
#pragma once
// How messages pass a library's own threads and its daemons, which stamp nothing: by the system calls and wakings of these threads.
//
// A thread may hand a message on by waking another out of a sending or futex call, or by putting bytes into a socket, pipe or
// eventfd that the other takes some out of. Who the sender reaches by such hand-overs, each after the one before, may have the
// message (what they carry isn't looked at). Backwards from the receiver, the last hand-over to each thread before it gave the
// message on is taken for this message's: it is the only one in flight, so that all of that is on its account. What only ended a
// wait for a lock counts where nothing else did. A waking out of a taking call tells of room in a queue, and hands nothing over.
//
// Where that reaches nobody, threads of one process may have handed it on in memory, which no event tells: then it is known by its
// bounds (inferred). Where processes share memory (ICEPATH_USES_SHARED_MEMORY) that goes for all of them together.
//
// Where another delivery of the cell overlaps, nothing tells the messages apart: ambiguous_relay. Where no hand-over reaches back to
// the sender: left_path, or lost_record where a thread that slept came back and its waking wasn't seen.
#include "profiler/path/log.h"
#include "profiler/path/observations.h"

namespace icepath::path {

// Puts, for each delivery, in the place of the one transfer from its sender to its receiver those that the message really took.
// Deliveries whose message has no transfer of its own are left as they are.
void find_relays(const SocketEvents &events, bool share_memory, Observations &seen);

} // namespace icepath::path
