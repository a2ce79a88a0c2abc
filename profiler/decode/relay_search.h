// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one way by which a message can have come from its sender to its receiver, by what threads handed to each other; relays.h says
// what makes it the one.
#include <vector>

#include "profiler/decode/edges.h"
#include "profiler/decode/relays.h"

namespace icepath::decode {

// One hand-over of the message. In memory there are only its bounds: since when the giver had it, and by when the taker did.
struct FoundTransfer {
	const Edge *on = nullptr; // nullptr: in memory
	const Edge *whole_since =
		nullptr; // the first one by which all of it may have gone, where `on` is the last; nullptr: that, too
	std::vector<const Edge *> parts = {}; // that it may have gone in, `on` among them
	uint32_t from = 0, to = 0; // tids
	Mark had, taken_by; // in memory
};

struct Chain {
	std::vector<FoundTransfer> transfers; // from the sender to the receiver
	Reason reason = Reason::None; // why there are none
};

// `taken`: when the receiver has it at the latest. `all` as edges_of() returns it.
Chain chain_of(const Observations &seen, const std::vector<Edge> &all, const Delivery &delivery, const Mark &taken,
			   const Means &means);

} // namespace icepath::decode
