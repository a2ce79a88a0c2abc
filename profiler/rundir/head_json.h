// SPDX-License-Identifier: Apache-2.0
#pragma once
// HEAD and TAIL as JSON. Reading throws std::runtime_error with the key that is wrong; both have the limits of limits.h.
#include <nlohmann/json.hpp>

#include "profiler/rundir/run.h"

namespace icepath::rundir {

// Throws Failure(Internal) where host_json or isolation_json isn't an object.
nlohmann::ordered_json to_json(const Head &head);
nlohmann::ordered_json to_json(const Tail &tail);
Head head_from_json(const nlohmann::ordered_json &json);
Tail tail_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
