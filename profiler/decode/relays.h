// SPDX-License-Identifier: Apache-2.0
#pragma once
// How messages pass a library's own threads and its daemons, which stamp nothing: by these threads' system calls and
// wakings.
//
// A thread may hand a message on by waking another from within a sending or futex call, or by bytes that the other
// takes. The calls that gave the bytes of a taking call are known (takings.h), the content isn't. So a way counts only
// if it is the only possible one.
//
// Between processes without shared memory, a message takes calls that move at least its payload's bytes (no library
// here compresses): a heartbeat, an acknowledgement or a lone header is less. It may go in several calls, of several
// threads, on one way. If these have moved the payload, and their thread then waits or takes something, or another
// thread gives, later bytes belong to another message. The message continues from the thread that gave the last part to
// the thread that took it. It doesn't return to a process that it has left. Two possible ways between processes are
// ambiguous_relay.
//
// Within a process, and between all of them if they share memory (ICEPATH_USES_SHARED_MEMORY), a hand-over needs no
// bytes. Wakings and bytes between threads make the ways from the thread that took the message to the one that gave it
// on. A single way is the message's. Of several, the part that all have in common is known, and the rest is inferred,
// bounded by the first and last hand-over of them all. Without any, the message was handed on in memory, also inferred.
// Two kinds of evidence narrow that: the only bytes, at least the payload's, that its holder gave to another thread of
// the process carried it; and a thread that slept since before any thread there had the message can't have had it
// before its only waking. The end of a wait for a lock hands nothing on (locks.h). Between processes that share memory,
// several ways without a common part are ambiguous_relay.
//
// If another delivery of the cell overlaps, the messages can't be told apart: ambiguous_relay. The reason is the same
// if something untold (takings.h) was taken during the delivery. If no hand-over reaches back to the sender, it is
// left_path, or lost_record if a thread that slept came back without a recorded waking.
//
// The last thread of a way is the side's own, which stamps the library's function that took the message. By callback it
// is the library's thread that called the handler (model::thread_of), and its system calls show how it got the message.
#include "profiler/decode/log.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

struct Means {
	bool share_memory = false; // between processes
	bool calls_back = false; // the receiver's thread is one of the library
	uint64_t payload_bytes = 0; // of each message
};

// Replaces each delivery's single transfer from sender to receiver by those that the message really took. A delivery
// whose message has no transfer stays as it is.
void find_relays(const SocketEvents &events, const Means &means, Observations &seen);

} // namespace icepath::decode
