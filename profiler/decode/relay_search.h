// SPDX-License-Identifier: Apache-2.0
#pragma once
// The single possible way of a message from sender to receiver, by what threads handed to each other. relays.h has the
// rules.
#include <vector>

#include "profiler/decode/edges.h"
#include "profiler/decode/relays.h"

namespace icepath::decode {

// One hand-over of the message. In memory only its bounds are known: when the giver had it, and when the taker had it
// at the latest.
struct FoundTransfer {
	const Edge *on = nullptr; // nullptr: in memory
	// The first edge by which the whole message may have gone, where `on` is the last; nullptr: `on`.
	const Edge *whole_since = nullptr;
	std::vector<const Edge *> parts = {}; // edges that may carry parts of it, `on` included
	uint32_t from = 0, to = 0; // tids
	Mark had, taken_by; // in memory only
};

struct Chain {
	std::vector<FoundTransfer> transfers; // from the sender to the receiver
	Reason reason = Reason::None; // why there is no chain
};

// `taken`: the receiver has the message by then. `all`: as edges_of() returns it.
Chain chain_of(const Observations &seen, const std::vector<Edge> &all, const Delivery &delivery, const Mark &taken,
			   const Means &means);

} // namespace icepath::decode
