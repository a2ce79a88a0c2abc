// SPDX-License-Identifier: Apache-2.0
#pragma once
// An attached run's targets and connections as JSON.
#include <nlohmann/json.hpp>

#include "profiler/model/attached.h"

namespace icepath::rundir {

nlohmann::ordered_json to_json(const model::Attached &attached);
nlohmann::ordered_json to_json(const model::Detached &detached);

// Throw std::runtime_error with the key at fault.
model::Attached attached_from_json(const nlohmann::ordered_json &json);
model::Detached detached_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
