// SPDX-License-Identifier: Apache-2.0
#pragma once
// What people read of commands and options: help, man pages, docs/options.md. All have the same words.
#include <string>

#include "profiler/cli/described.h"

namespace icepath::cli {

// For a terminal of 80 columns.
std::string help_of(const CommandDescription &command, const std::vector<CommandDescription> &commands);

// What a man page's head says of the program.
struct Edition {
	std::string version; // "0.1.0"
	std::string date; // "2026-11-28"; empty: unknown
};
// icepath(1); of a command icepath-COMMAND(1). In roff. Throws Failure(Usage) if there is no such command.
std::string man_page(const ProgramDescription &program, const std::string &command, const Edition &edition);

// docs/options.md
std::string options_page(const ProgramDescription &program);

} // namespace icepath::cli
