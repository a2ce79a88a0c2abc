// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which calls put in what a call took out: no object makes bytes or loses any, and hands them out in their order.
//
// What went into a socket, pipe or message queue is a queue of bytes with the calls that gave them; a taking call has its bytes from
// the front. An object whose calls all move 8 bytes may be an eventfd: one read takes all that was added. Datagrams that several sockets
// send to one, and those that one sends to several, are in the order of their announcements.
//
// What two threads gave to one object at the same time may have got into it in either order: then that time is `untold`, until all
// that was given has been taken. What was announced before the other's call began came first.
//
// What came by a network device, be it the loopback's, may arrive after its call is back: TCP holds it for its window. So where the other
// end was seen to be empty, and more is taken then than was given since, that is the last of what was given before.
//
// What was in it before the first record, or before one that was lost, is as much as was taken beyond what was given. It is over where
// the object was seen to be empty: a taking call found nothing, or slept. Where the sums contradict that, nothing is told.
#include <vector>

#include "profiler/decode/log.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

// A call took something that another one gave.
struct Taking {
	uint32_t from = 0, to = 0; // tids; may be one
	const Call *give = nullptr, *take = nullptr; // never nullptr
	uint64_t bytes = 0; // of this one's that it took; 0: not told
	const SocketEvent *ready = nullptr, *device = nullptr; // of a socket
	bool through_device = false; // its others had one
};

// Whose call announced something at a socket, if that is known.
struct Announcement {
	const SocketEvent *ready = nullptr; // never nullptr
	const SocketEvent *device = nullptr;
	const Call *give = nullptr;
	uint32_t from = 0;
};

// Threads gave to one object at the same time, and it isn't known anew before the end.
struct Untold {
	uint64_t begin_ns = 0, end_ns = 0;
};

struct Moved {
	std::vector<Announcement> announcements; // by time
	std::vector<Taking> takings; // by object, then by time
	std::vector<Untold> untold;
};

Moved moved(const SocketEvents &events, const Observations &seen);

} // namespace icepath::decode
