// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts in columns of a terminal.
#include <cstddef>
#include <string>
#include <string_view>

namespace icepath::text {

// Columns of a UTF-8 text. Every character of a report is one column wide.
size_t columns(std::string_view text);
std::string pad_left(const std::string &text, size_t width);
std::string pad_right(const std::string &text, size_t width);

// For ASCII-only terminals and locales: "µ" becomes "u", "±" becomes "+/-", and so on; a character without a spelling
// becomes "?".
std::string to_ascii(const std::string &text);

} // namespace icepath::text
