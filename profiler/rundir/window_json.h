// SPDX-License-Identifier: Apache-2.0
#pragma once
// WINDOW as JSON: a window without its records, and the numbers of records and blocks that follow.
#include <nlohmann/json.hpp>

#include "profiler/model/block.h"
#include "profiler/model/cell.h"
#include "profiler/model/window.h"

namespace icepath::rundir {

struct WindowShape {
	model::Window window; // without records
	std::vector<uint64_t> records; // by slot
	size_t blocks = 0; // measured in it
};

nlohmann::ordered_json to_json(const model::Window &window, size_t blocks);

// Throws std::runtime_error with the wrong key. Also where there would be more records or blocks than limits.h allows.
WindowShape window_from_json(const nlohmann::ordered_json &json);

// MEASUREMENT as JSON: a block without its window and stamps, and the number of stamps that follow.
struct BlockShape {
	model::Block block; // without stamps and window
	std::vector<uint64_t> sends, recvs; // by flow
};

nlohmann::ordered_json to_json(const model::Block &block);

// Throws std::runtime_error with the wrong key. Also where sides or flows aren't those of the block's cell, and where
// there would be more stamps than limits.h allows.
BlockShape block_from_json(const nlohmann::ordered_json &json, const std::vector<model::Cell> &cells);

} // namespace icepath::rundir
