// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a block tells of sockets, as JSON of a MEASUREMENT.
#include <nlohmann/json.hpp>

#include "profiler/model/sockets.h"

namespace icepath::rundir {

nlohmann::ordered_json to_json(const model::BlockSockets &sockets);
// Throws std::runtime_error with the wrong key. `sides`: of the cell.
model::BlockSockets sockets_from_json(const nlohmann::ordered_json &json, size_t sides);

// Every counter by its key; null where the kernel has none.
nlohmann::ordered_json to_json(const model::KernelCounts &counts);

} // namespace icepath::rundir
