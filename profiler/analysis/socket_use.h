// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's sockets over its blocks, and what the kernel counted of them.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/analysis/messages.h"
#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/model/sockets.h"

namespace icepath::analysis {

struct SocketUse {
	// What the kernel counted in one block, and its slowest message.
	struct Block {
		uint64_t longest_ns = 0; // 0: no message arrived
		uint64_t dropped = 0, retransmitted = 0; // at the cell's own sockets
	};

	// Of processes that begin, and of those that receive; of sides in one process, in the first.
	struct End {
		// Alike ones together: the most at once, the smallest and greatest buffers, all that was dropped.
		std::vector<model::SocketGroup> groups;
	};

	std::array<End, 2> ends;
	std::optional<model::KernelCounts> counts; // sums; nothing: no block tells them
	uint64_t loopback_mtu = 0; // 0: not known
	std::vector<Block> blocks; // those that tell of sockets

	void add(const model::Block &block, const model::Cell &cell, const BlockMessages &seen);
	bool any() const { return !ends[0].groups.empty() || !ends[1].groups.empty(); }
	uint64_t dropped() const; // at all sockets
	uint64_t retransmitted() const;
};

} // namespace icepath::analysis
