// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace icepath::rundir {

// JSON that may have been written by anybody: the one place where icepath reads any. Throws std::runtime_error with the reason where it
// isn't JSON, is larger or deeper than limits.h allows, or has a key that isn't printable: what this returns can be copied and printed.
// Each of its texts is model::printable(), so that no name which comes out of a file does anything but stand there.
nlohmann::ordered_json parse_json(std::string_view text);

// A free-form description within a run's head, which was read already. An empty object where it is none.
nlohmann::ordered_json parse_object(const std::string &text);

// The other way round, as the container has it; parse_json takes it back. Texts come from other processes and needn't be
// UTF-8: bytes that aren't are replaced. Throws std::runtime_error where it would be larger than limits.h allows.
std::string json_text(const nlohmann::ordered_json &json);

} // namespace icepath::rundir
