// SPDX-License-Identifier: Apache-2.0
#pragma once
// MEASUREMENT as JSON: everything of a block but its window and its stamps, and how many of those follow.
#include <nlohmann/json.hpp>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"

namespace icepath::rundir {

struct BlockShape {
	model::Block block; // stamps still empty, and no window
	std::vector<uint64_t> sends, recvs; // by flow
};

nlohmann::ordered_json to_json(const model::Block &block);

// Throws std::runtime_error with the key that is wrong, also where sides or flows aren't those of the block's cell, and where
// stamps would be more than limits.h allows.
BlockShape block_from_json(const nlohmann::ordered_json &json, const std::vector<model::Cell> &cells);

} // namespace icepath::rundir
