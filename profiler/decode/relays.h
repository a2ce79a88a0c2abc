// SPDX-License-Identifier: Apache-2.0
#pragma once
// How messages pass a library's own threads and its daemons, which stamp nothing: by the system calls and wakings of these threads.
//
// A thread may hand a message on by waking another out of a sending or futex call, or by bytes that the other takes: which calls gave
// the bytes that a call took is known (takings.h). What they hold isn't, so a way is told only where it is the only one that is left.
//
// Between processes that share no memory a message goes by calls that move as many bytes as its payload has (no library here compresses):
// a heartbeat, an acknowledgement or a header by itself is less. It may go in several calls, of several threads, on one way; where these
// had moved as much, and the thread then went to wait or took something, or another one gave, what follows is none of it. It goes on
// from the thread that gave the last part to the one that took that. It doesn't come back to a process that it has left. Where two ways from process to process remain, nothing tells them apart: ambiguous_relay.
//
// Within a process, and between all of them where they share memory (ICEPATH_USES_SHARED_MEMORY), a hand-over needs no bytes. From the
// thread that took the message to the one that gave it on, wakings and bytes between threads make ways. Where there is one,
// it is the message's; where there are several, it is told as far as all agree, and between that it is inferred: the bounds are the first
// and the last hand-over of them all. Without any it was handed on in memory, likewise inferred; but it went with the only bytes, as
// many as the payload has, that who had it gave to another thread of its process, and a thread that slept since before
// anybody there had the message can't have had it before its only waking. What ends a wait for a lock hands nothing on (locks.h). Between
// processes that share memory, several ways that don't agree are ambiguous_relay.
//
// Where another delivery of the cell overlaps, nothing tells the messages apart: ambiguous_relay. Where no hand-over reaches back to
// the sender: left_path, or lost_record where a thread that slept came back and its waking wasn't seen.
#include "profiler/decode/log.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

struct Means {
	bool share_memory = false; // between processes
	uint64_t payload_bytes = 0; // of each message
};

// Puts, for each delivery, in the place of the one transfer from its sender to its receiver those that the message really took.
// Deliveries whose message has no transfer of its own are left as they are.
void find_relays(const SocketEvents &events, const Means &means, Observations &seen);

} // namespace icepath::decode
