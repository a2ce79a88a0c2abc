// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's channels and flows: who sends to whom.
#include <array>
#include <cstdint>
#include <vector>

#include "profiler/model/cell.h"

namespace icepath::model {

// Messages from one side to another. Two sides that exchange messages share a channel.
struct Flow {
	uint32_t from = 0, to = 1; // sides
	uint32_t channel = 0; // see sides_of_channel()
	friend bool operator==(const Flow &, const Flow &) = default;
};
inline size_t channels_of(const Cell &cell) { return sides_of(cell) - 1; }
// Who begins, and who receives: each sender with each receiver, of which one kind has one.
inline std::array<uint32_t, 2> sides_of_channel(const Cell &cell, uint32_t channel)
{
	const auto senders = static_cast<uint32_t>(senders_of(cell));
	return {channel % senders, senders + channel / senders};
}
// Of every channel the flow from who begins, then, where the pattern answers, those back. The order is that of a block's flows.
inline std::vector<Flow> flows_of(const Cell &cell)
{
	std::vector<Flow> flows;
	for (const bool back : {false, true})
		for (uint32_t channel = 0; channel < channels_of(cell) && (!back || is_answered(cell.pattern)); channel++) {
			const auto [begins, receives] = sides_of_channel(cell, channel);
			flows.push_back(back ? Flow{receives, begins, channel} : Flow{begins, receives, channel});
		}
	return flows;
}

} // namespace icepath::model
