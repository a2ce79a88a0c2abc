// SPDX-License-Identifier: Apache-2.0
#pragma once
// As much of JSON Schema as docs/run-schema.json uses, so that the file and the program can't drift apart.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace icepath::report {

// Where `value` isn't as `schema` says: "/cells/0/wait: ...". A keyword that this doesn't know is a complaint too, and so
// is a key of `value` that the schema doesn't describe where it describes keys at all.
std::vector<std::string> schema_complaints(const nlohmann::json &schema, const nlohmann::json &value);

} // namespace icepath::report
