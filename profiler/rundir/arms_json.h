// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's arms as JSON, in the container and in run.json. Reading throws std::runtime_error with the wrong key.
#include <nlohmann/json.hpp>

#include <vector>

#include "profiler/model/arm.h"

namespace icepath::rundir {

nlohmann::ordered_json to_json(const std::vector<model::Arm> &arms);
std::vector<model::Arm> arms_from_json(const nlohmann::ordered_json &head); // its "arms"

} // namespace icepath::rundir
