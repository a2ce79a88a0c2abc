// SPDX-License-Identifier: Apache-2.0
#pragma once
// WINDOW as JSON: everything of a window but its records, and how many of those and of blocks follow.
#include <nlohmann/json.hpp>

#include "profiler/model/window.h"

namespace icepath::rundir {

struct WindowShape {
	model::Window window; // records still empty
	std::vector<uint64_t> records; // by slot
	size_t blocks = 0; // that were measured in it
};

nlohmann::ordered_json to_json(const model::Window &window, size_t blocks);

// Throws std::runtime_error with the key that is wrong, and where records or blocks would be more than limits.h allows.
WindowShape window_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
