// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quality of service as JSON, in the container and in run.json.
#include <nlohmann/json_fwd.hpp>

#include "profiler/model/qos.h"

namespace icepath::rundir {

// {"reliability": "reliable", "depth": 1, "deadline_ns": null}: null is infinite.
nlohmann::ordered_json to_json(const model::Qos &qos);
// Throws std::runtime_error with the wrong key.
model::Qos qos_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
