// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machine and its isolation as JSON, in the container and in run.json. What isn't known has no key; from_json()
// throws std::runtime_error with the defect.
#include <nlohmann/json.hpp>

#include "profiler/model/conditions.h"

namespace icepath::rundir {

nlohmann::ordered_json to_json(const model::Host &host);
nlohmann::ordered_json to_json(const model::Isolation &isolation);
model::Host host_from_json(const nlohmann::ordered_json &json);
model::Isolation isolation_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
