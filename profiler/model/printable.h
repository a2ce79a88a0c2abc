// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes texts of foreign origin (names of tasks, hosts and targets, messages of libraries, texts in files) safe to
// print and to write. rundir::parse_json and decode apply it to what they read from a run directory, and cli/output.h
// once more to all output.
#include <cstddef>
#include <string>
#include <string_view>

namespace icepath::model {

// In characters. A longer text is cut, and ends with "…".
inline constexpr size_t kLongestName = 128;
inline constexpr size_t kLongestText = 4096;

// `text` as one line of UTF-8 without characters that move the cursor, change the terminal, change the writing
// direction or are invisible: controls (C0 and C1), directional marks, line separators, zero-width characters,
// Unicode's default-ignorable ones. Each is escaped as in C ("\n", "\t", "\x1b", "\u202e"), and so is a byte that isn't
// UTF-8 ("\xff"). A backslash isn't escaped, so a printable text stays the same.
std::string printable(std::string_view text, size_t longest = kLongestText);

// The same for an icepath text of several lines: keeps line feeds, tabs and the colours that icepath sets.
std::string printable_page(std::string_view text);

} // namespace icepath::model
