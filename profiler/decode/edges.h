// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the threads of a block handed to each other, by their system calls and wakings: what a message may have gone by.
#include <vector>

#include "profiler/decode/takings.h"

namespace icepath::decode {

// One thread handed something to another. What it points to is of the block's observations and events.
struct Edge {
	uint32_t from = 0, to = 0; // tids
	const Call *give = nullptr; // never nullptr
	const Call *take = nullptr; // the call that took it, or that slept for it
	// By bytes: the calls by which the taker asked for them, since they were there. It may have taken them in several calls.
	const Call *first_take = nullptr; // nullptr: `take`
	const Call *wait = nullptr; // a readiness wait before that; nullptr: none
	const OffCpu *woken = nullptr; // by a waking; nullptr: by bytes that were taken
	uint64_t bytes = 0; // those
	const SocketEvent *ready = nullptr, *device = nullptr; // of a socket
	bool through_device = false;

	uint64_t given_ns() const { return give->begin_ns; }
	uint64_t had_ns() const { return take->end_ns; }
	const Call &asked() const { return wait ? *wait : first_take ? *first_take : *take; }
};

struct Edges {
	std::vector<Edge> all; // in the order in which they were given
	std::vector<Untold> untold; // when nothing tells which bytes went where
};

// All of a block. The end of a wait for a lock hands nothing on, nor does a waking out of a
// taking call, which tells of room in a queue.
Edges edges_of(const SocketEvents &events, const Observations &seen);

} // namespace icepath::decode
