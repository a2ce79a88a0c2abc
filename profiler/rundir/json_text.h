// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace icepath::rundir {

// Parses JSON of any origin; icepath reads all JSON through here. Throws std::runtime_error with the reason if it isn't
// JSON, is larger or deeper than limits.h allows, or has an unprintable key. All texts in the result are
// model::printable(), so they can be copied and printed.
nlohmann::ordered_json parse_json(std::string_view text);

// The reverse, as the container stores it; parse_json reads it back. Texts come from other processes, so bytes that
// aren't UTF-8 are replaced. Throws std::runtime_error if the result would be larger than limits.h allows.
std::string json_text(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
