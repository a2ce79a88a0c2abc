// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell as JSON, in HEAD.
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "profiler/model/cell.h"
#include "profiler/model/qos.h"

namespace icepath::rundir {

nlohmann::ordered_json to_json(const model::Cell &cell);
// Throws std::runtime_error with the wrong key.
model::Cell cell_from_json(const nlohmann::ordered_json &json);

// Quality of service as JSON, in the container.
//
// {"reliability": "reliable", "depth": 1, "deadline_ns": null}: null is infinite.
nlohmann::ordered_json to_json(const model::Qos &qos);
// Throws std::runtime_error with the wrong key.
model::Qos qos_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
