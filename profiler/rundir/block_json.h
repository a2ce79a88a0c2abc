// SPDX-License-Identifier: Apache-2.0
#pragma once
// BLOCK as JSON: everything of a block but its stamps and records, and how many of those follow.
#include <array>
#include <nlohmann/json.hpp>

#include "profiler/rundir/block.h"

namespace icepath::rundir {

inline constexpr size_t kMaxSlots = 65537; // one for each CPU that 16 bits can name, one for the others

struct BlockShape {
	Block block; // stamps and records still empty
	std::array<uint64_t, 2> sends{}, recvs{};
	std::vector<uint64_t> records; // by slot
};

nlohmann::ordered_json to_json(const Block &block);

// Throws std::runtime_error with the key that is wrong, also where the stamps and records together would pass
// kMaxChunkBytes: so no block takes more memory than that.
BlockShape block_from_json(const nlohmann::ordered_json &json, size_t cells);

} // namespace icepath::rundir
