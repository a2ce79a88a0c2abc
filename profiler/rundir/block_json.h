// SPDX-License-Identifier: Apache-2.0
#pragma once
// MEASUREMENT as JSON: a block without its window and stamps, and the number of stamps that follow.
#include <nlohmann/json.hpp>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"

namespace icepath::rundir {

struct BlockShape {
	model::Block block; // without stamps and window
	std::vector<uint64_t> sends, recvs; // by flow
};

nlohmann::ordered_json to_json(const model::Block &block);

// Throws std::runtime_error with the wrong key. Also where sides or flows aren't those of the block's cell, and where
// there would be more stamps than limits.h allows.
BlockShape block_from_json(const nlohmann::ordered_json &json, const std::vector<model::Cell> &cells);

} // namespace icepath::rundir
