// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json, the interface for scripts. docs/run-schema.json describes it. Within a schema's number keys may be added,
// but never renamed or removed.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"

namespace icepath::exports {

inline constexpr int kSchema = 2;

nlohmann::ordered_json run_json(const analysis::RunResult &result);

// Content of the file. Bytes of names that aren't UTF-8 are replaced.
std::string run_json_text(const analysis::RunResult &result);

} // namespace icepath::exports
