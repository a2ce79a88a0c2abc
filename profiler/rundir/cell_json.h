// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell as JSON, in HEAD.
#include <nlohmann/json.hpp>

#include "profiler/model/cell.h"

namespace icepath::rundir {

nlohmann::ordered_json to_json(const model::Cell &cell);
// Throws std::runtime_error with the wrong key.
model::Cell cell_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
