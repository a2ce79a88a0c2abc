// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace icepath::rundir {

// JSON that may have been written by anybody. Throws std::runtime_error with the reason where it isn't JSON, or is larger
// or deeper than limits.h allows: what this returns can be copied and printed.
nlohmann::ordered_json parse_json(std::string_view text);

// The other way round, as the container has it; parse_json takes it back. Texts come from other processes and needn't be
// UTF-8: bytes that aren't are replaced. Throws std::runtime_error where it would be larger than limits.h allows.
std::string json_text(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
