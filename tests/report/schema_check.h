// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of JSON Schema that docs/run-schema.json uses, so that file and program stay consistent.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace icepath {

// Where `value` doesn't conform to `schema`: "/cells/0/wait: ...". Unknown keywords are complaints too, and so are keys
// of `value` that are missing in a schema which lists keys.
std::vector<std::string> schema_complaints(const nlohmann::json &schema, const nlohmann::json &value);

} // namespace icepath
