// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matches each taking call with the calls that gave its bytes: an object neither makes nor loses bytes, and keeps their
// order.
//
// A socket, pipe or message queue is a queue of bytes with the calls that gave them; a taking call gets its bytes from
// the front. An object whose calls all move 8 bytes may be an eventfd: one read takes all that was added. Datagrams
// from several sockets to one, and from one socket to several, of the run or not, are ordered by their announcements.
//
// A softirq announces the datagram that its CPU queued last. If an earlier softirq had handled that one, a process that
// isn't watched sent the announced datagram: it has no giver. Between two instants at which the socket was empty, such
// datagrams are distinguished from those of the run by their sizes and their order, if that leaves one possibility, or
// else none is matched. This assumes that each datagram is taken whole, and once, by one call.
//
// If two threads give to one object at the same time, either may be first. Takings from the object are then untold
// until all of it has been taken. What was announced before the other call began came first.
//
// Bytes that come through a network device, loopback included, may arrive after their call has returned: TCP holds them
// for its window. So if the other end was seen empty, and more is then taken than was given since, the surplus is the
// newest of what was given before.
//
// An object held as much before its first record, or before a lost one, as was taken beyond what was given. None of it
// is left once the object is seen empty: a taking call found nothing, or slept. If the sums contradict that, nothing is
// matched.
#include <vector>

#include "profiler/decode/log.h"
#include "profiler/path/observations.h"

namespace icepath::decode {

// One call took something that another one gave.
struct Taking {
	uint32_t from = 0, to = 0; // tids; may be equal
	const Call *give = nullptr, *take = nullptr; // never nullptr
	uint64_t bytes = 0; // bytes of `give` that it took; 0: not known
	const SocketEvent *ready = nullptr, *device = nullptr; // at a socket
	bool through_device = false; // what is taken from the object passes a device
};

// An announcement at a socket, and the call that caused it if known.
struct Announcement {
	const SocketEvent *ready = nullptr; // never nullptr
	const SocketEvent *device = nullptr;
	const Call *give = nullptr;
	uint32_t from = 0;
	bool again = false; // for a datagram that this socket has had: for its next part, or another without a record
};

struct Moved {
	std::vector<Announcement> announcements; // by time
	std::vector<Taking> takings; // by object, then by time
	std::vector<uint64_t> untold_ns; // ends of calls that took something untold, in order
};

Moved moved(const SocketEvents &events, const Observations &seen);

} // namespace icepath::decode
