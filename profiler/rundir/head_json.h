// SPDX-License-Identifier: Apache-2.0
#pragma once
// HEAD and TAIL as JSON. Reading throws std::runtime_error with the wrong key; limits.h limits both.
#include <nlohmann/json.hpp>

#include "profiler/model/run.h"

namespace icepath::rundir {

// The container's version. 3 has windows with their blocks, and cells of any shape; 4 may have sampled windows, which a
// reader of 3 would take for others with probes; 5
// may have arms, whose cells a reader of 4 would take for the same cell measured twice.
inline constexpr uint32_t kFormatVersion = 5, kOldestFormat = 3;

nlohmann::ordered_json to_json(const model::Head &head);
nlohmann::ordered_json to_json(const model::Tail &tail);
nlohmann::ordered_json to_json(const std::vector<model::CpuNoise> &noise);
model::Head head_from_json(const nlohmann::ordered_json &json);
model::Tail tail_from_json(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
