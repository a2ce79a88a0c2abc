// SPDX-License-Identifier: Apache-2.0
#pragma once
// WINDOW as JSON: a window without its records, and the numbers of records and blocks that follow.
#include <nlohmann/json.hpp>

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

} // namespace icepath::rundir
