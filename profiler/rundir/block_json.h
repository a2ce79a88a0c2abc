// SPDX-License-Identifier: Apache-2.0
#pragma once
// BLOCK as JSON: everything of a block but its stamps and records, and how many of those follow.
#include <array>
#include <nlohmann/json.hpp>

#include "profiler/rundir/block.h"

namespace icepath::rundir {

struct BlockShape {
	Block block; // stamps and records still empty
	std::array<uint64_t, 2> sends{}, recvs{};
	std::vector<uint64_t> records; // by slot
};

nlohmann::ordered_json to_json(const Block &block);

// Throws std::runtime_error with the key that is wrong, also where stamps or records would be more than limits.h allows.
BlockShape block_from_json(const nlohmann::ordered_json &json, size_t cells);

} // namespace icepath::rundir
