// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json: what scripts rest on. docs/run-schema.json describes it. Keys may be added, never renamed or removed, within
// a schema_version.
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/report/aggregate.h"

namespace icepath::report {

inline constexpr int kSchemaVersion = 1;

nlohmann::ordered_json run_json(const RunResult &result);

// As the file has it. Names that aren't UTF-8 lose the bytes that aren't.
std::string run_json_text(const RunResult &result);

} // namespace icepath::report
