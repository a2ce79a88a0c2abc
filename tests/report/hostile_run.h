// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory as a stranger might hand it over: sound, but for its names.
#include <string>
#include <string_view>

namespace icepath::report {

// What a terminal obeys, what turns the direction of writing, what can't be seen, what breaks a line, a table or a mark-up.
inline constexpr std::string_view kHostile = "<script>&\"';,\033[2J\033]8;;http://x\a\033[8m\xc2\x9b"
											 "31m\b\r\n\t\x7f\u202e\u2066\u200b\u200f\u2028\ufeff\u00ad|";

// Two cells, pingpong and oneway, with and without probes. Each text of it is `name`, and each name of a task its first bytes, and
// bytes that are no UTF-8.
void write_hostile_run(const std::string &directory, const std::string &name);

} // namespace icepath::report
