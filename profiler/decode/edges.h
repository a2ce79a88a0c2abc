// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the threads of a block handed to each other, by their system calls and wakings: the possible ways of a message.
#include <vector>

#include "profiler/decode/takings.h"

namespace icepath::decode {

// One thread handed something to another. The pointers are into the block's observations and events.
struct Edge {
	uint32_t from = 0, to = 0; // tids
	const Call *give = nullptr; // never nullptr
	const Call *take = nullptr; // the call that took it or slept for it
	// By bytes, which may take several calls: the taker's first call for them that ended after they were there.
	const Call *first_take = nullptr; // nullptr: `take`
	const Call *wait = nullptr; // a readiness wait before that; nullptr: none
	const OffCpu *woken = nullptr; // the waking that handed it on; nullptr: bytes did
	uint64_t bytes = 0; // handed on
	const SocketEvent *ready = nullptr, *device = nullptr; // at a socket
	bool through_device = false;

	uint64_t given_ns() const { return give->begin_ns; }
	uint64_t had_ns() const { return take->end_ns; }
	const Call &asked() const { return wait ? *wait : first_take ? *first_take : *take; }
};

struct Edges {
	std::vector<Edge> all; // in the order of given_ns()
	std::vector<uint64_t> untold_ns; // as in Moved
};

// All edges of a block. The end of a wait for a lock hands nothing on. Neither does a waking from within a taking call,
// which reports room in a queue.
Edges edges_of(const SocketEvents &events, const Observations &seen);

} // namespace icepath::decode
