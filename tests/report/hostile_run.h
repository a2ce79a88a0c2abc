// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory from a stranger: sound except for its names.
#include <string>
#include <string_view>

namespace icepath {

// Terminal controls, direction marks, invisible characters, and what breaks a line, a table or markup.
inline constexpr std::string_view kHostile = "<script>&\"';,\033[2J\033]8;;http://x\a\033[8m\xc2\x9b"
											 "31m\b\r\n\t\x7f\u202e\u2066\u200b\u200f\u2028\ufeff\u00ad|";

// Two cells, pingpong and oneway, with and without probes. Every text is `name`; every task's name is its first bytes
// and bytes that aren't UTF-8.
void write_hostile_run(const std::string &directory, const std::string &name);

} // namespace icepath
