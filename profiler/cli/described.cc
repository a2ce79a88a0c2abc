// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/described.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace icepath::cli {
namespace {

std::string names_of(const std::set<CLI::Option *> &options)
{
	std::vector<std::string> names;
	for (const CLI::Option *option : options)
		names.push_back(option->get_positional() ? option->get_name(true) : "--" + option->get_lnames().front());
	std::ranges::sort(names); // the set is in the order of addresses
	return fmt::format("{}", fmt::join(names, ", "));
}

std::string text_of(const CLI::Option &option)
{
	std::string text = option.get_description();
	std::string usual = option.get_default_str();
	if (usual.starts_with('[') && usual.ends_with(']')) // as CLI11 writes a vector
		usual = usual.substr(1, usual.size() - 2);
	if (!usual.empty())
		text += fmt::format("; default: {}", usual);
	if (!option.get_needs().empty())
		text += fmt::format("; only with {}", names_of(option.get_needs()));
	if (!option.get_excludes().empty())
		text += fmt::format("; not with {}", names_of(option.get_excludes()));
	return text;
}

OptionDescription described_option(const CLI::Option &option)
{
	OptionDescription described;
	for (const std::string &name : option.get_snames())
		described.names.push_back("-" + name);
	for (const std::string &name : option.get_lnames())
		described.names.push_back("--" + name);
	if (option.get_positional())
		described.names.push_back(option.get_name(true));
	if (option.get_items_expected_max() > 0) {
		described.is_list = option.get_items_expected_max() > 1;
		described.value = option.get_type_name() + (described.is_list ? ",..." : "");
		described.offer = offer_for(option.get_type_name());
	}
	described.text = text_of(option);
	described.group = option.get_group();
	return described;
}

} // namespace

CommandDescription described_command(const CLI::App &app)
{
	CommandDescription command{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
	std::vector<const CLI::Option *> options = app.get_options();
	std::erase_if(options, [](const CLI::Option *option) { return option->get_group().empty(); });
	// CLI11 has these two first.
	std::ranges::stable_partition(options, [&](const CLI::Option *option) {
		return option != app.get_help_ptr() && option != app.get_version_ptr();
	});
	for (const std::string &group : app.get_groups())
		for (const CLI::Option *option : options)
			if (option->get_group() == group)
				(option->get_positional() ? command.arguments : command.options).push_back(described_option(*option));
	// get_groups() begins with the help's.
	std::ranges::stable_partition(command.options, [&](const OptionDescription &option) {
		return option.group != app.get_help_ptr()->get_group();
	});
	return command;
}

ProgramDescription described(const CLI::App &app)
{
	ProgramDescription program{described_command(app), {}};
	for (const CLI::App *command : app.get_subcommands([](const CLI::App *one) { return !one->get_group().empty(); }))
		program.commands.push_back(described_command(*command));
	return program;
}

} // namespace icepath::cli
