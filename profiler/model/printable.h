// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts that others chose (names of tasks, hosts and targets, sentences of libraries, whatever a file says), made safe to print and to
// write: the one definition of what a character may do. rundir::parse_json and decode apply it where a text of a run directory comes in, and
// cli/output.h once more to all that goes out.
#include <cstddef>
#include <string>
#include <string_view>

namespace icepath::model {

// Characters of what is left; more is cut, with "…" as its last.
inline constexpr size_t kLongestName = 128;
inline constexpr size_t kLongestText = 4096;

// `text` in UTF-8, one line, without a character that moves the cursor, changes the terminal, turns the direction of writing or can't be seen:
// controls (C0 and C1), marks of direction, line separators, zero-width characters, what Unicode calls ignorable. Such a one is written as it is
// in C: "\n", "\t", "\x1b", "\u202e", and a byte that is no UTF-8 as "\xff". A backslash stays as it is, so what is printable isn't changed.
std::string printable(std::string_view text, size_t longest = kLongestText);

// Of a text of icepath's with any number of lines: line feeds, tabs and the colours that icepath itself sets stay, the rest is as above.
std::string printable_page(std::string_view text);

} // namespace icepath::model
