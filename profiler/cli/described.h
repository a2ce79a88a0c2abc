// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands and options that add_commands() defines, as data for help, pages and completion.
#include <string>
#include <vector>

#include "profiler/cli/value_names.h"

namespace CLI {
class App;
}

namespace icepath::cli {

struct OptionDescription {
	std::vector<std::string> names; // as typed, short ones first: "-t", "--targets"; of an argument its value's name
	std::string value; // "TARGET,...", "{none,soft,full}"; empty: it has none
	Offer offer;
	bool is_list = false; // of values with commas between them
	std::string text; // what it does, its default, which options it needs and excludes
	std::string group; // title
};

struct CommandDescription {
	std::string name; // "run"; of the program itself "icepath"
	std::string line; // what it does, in a line
	std::string more; // sentences; may be empty
	std::vector<OptionDescription> arguments;
	std::vector<OptionDescription> options; // those of a group follow each other
};

struct ProgramDescription {
	CommandDescription itself;
	std::vector<CommandDescription> commands; // without those that help doesn't show
};

CommandDescription described_command(const CLI::App &app);
ProgramDescription described(const CLI::App &app);

} // namespace icepath::cli
