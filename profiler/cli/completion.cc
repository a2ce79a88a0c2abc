// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string_view>

#include "profiler/cli/completion_functions.h"

namespace icepath::cli {
namespace {

using Of = Offer::Of;

// As completion_functions.h has it.
const char *mode_of(const OptionDescription &option)
{
	return option.offer.by_policy ? "policy" : option.is_list ? "items" : "one";
}

std::string words_of(const Offer &offer) { return fmt::format("{}", fmt::join(offer.words, " ")); }

std::string option_names(const CommandDescription &command)
{
	std::string names;
	for (const OptionDescription &option : command.options)
		names += fmt::format("{}{}", names.empty() ? "" : " ", fmt::join(option.names, " "));
	return names;
}

std::string bash_action(const OptionDescription &option)
{
	switch (option.offer.of) {
	case Of::Words:
		return fmt::format("_icepath_offer {} \"$value\" {}", mode_of(option), words_of(option.offer));
	case Of::Targets:
		return fmt::format("_icepath_offer items \"$value\" {} $(\"$program\" list 2>/dev/null | {})",
						   words_of(option.offer), kNames);
	case Of::RunDirectories:
		return "_icepath_runs \"$value\"";
	case Of::Files:
		return "_icepath_files \"$value\"";
	case Of::Folders:
		return "_icepath_folders \"$value\"";
	case Of::Groups:
		return "mapfile -t COMPREPLY < <(compgen -g -- \"$value\")";
	case Of::Nothing:
		break;
	}
	return ":";
}

std::string in_single_quotes(std::string_view text, std::string_view quote)
{
	std::string quoted = "'";
	for (const char c : text)
		quoted += c == '\'' ? std::string(quote) : std::string(1, c);
	return quoted + "'";
}

// In a specification for _arguments.
std::string zsh_text(std::string_view text, std::string_view special)
{
	std::string escaped;
	for (const char c : text)
		escaped += (special.find(c) != std::string_view::npos ? "\\" : "") + std::string(1, c);
	return escaped;
}

std::string zsh_action(const OptionDescription &option)
{
	const std::string words = zsh_text(words_of(option.offer), ":");
	switch (option.offer.of) {
	case Of::Words:
		return fmt::format(" _icepath_offer {} {}", mode_of(option), words);
	case Of::Targets:
		return " _icepath_targets " + words;
	case Of::RunDirectories:
		return " _icepath_runs";
	case Of::Files:
		return "_files";
	case Of::Folders:
		return "_files -/";
	case Of::Groups:
		return "_groups";
	case Of::Nothing:
		break;
	}
	return " ";
}

std::string zsh_quoted(const std::string &text) { return in_single_quotes(text, "'\\''"); }

// One specification for each name: they exclude each other, unless the option may be repeated.
std::string zsh_options(const CommandDescription &command)
{
	std::string lines;
	for (const OptionDescription &option : command.options)
		for (const std::string &name : option.names) {
			const std::string before = option.is_list ? "*" : fmt::format("({})", fmt::join(option.names, " "));
			const std::string value =
				option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value, ":"), zsh_action(option));
			const char *joined = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
			lines += fmt::format(" \\\n\t\t\t{}", zsh_quoted(fmt::format("{}{}{}[{}]{}", before, name, joined,
																		 zsh_text(option.text, ":[]\\"), value)));
		}
	for (const OptionDescription &argument : command.arguments)
		lines += fmt::format(" \\\n\t\t\t{}", zsh_quoted(fmt::format(":{}:{}", argument.value, zsh_action(argument))));
	return lines;
}

std::string fish_quoted(std::string_view text) { return in_single_quotes(text, "\\'"); }

std::string fish_action(const OptionDescription &option)
{
	switch (option.offer.of) {
	case Of::Words:
		return fmt::format("__icepath_offer {} {}", mode_of(option), words_of(option.offer));
	case Of::Targets:
		return "__icepath_targets " + words_of(option.offer);
	case Of::RunDirectories:
		return "__icepath_runs";
	case Of::Folders:
		return "__icepath_folders";
	case Of::Groups:
		return "__fish_complete_groups";
	case Of::Files:
	case Of::Nothing:
		break;
	}
	return "";
}

std::string fish_options(const CommandDescription &command, const std::string &condition)
{
	std::string lines;
	for (const OptionDescription &option : command.options) {
		lines += "complete -c icepath" + condition;
		for (const std::string &name : option.names)
			lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
		const std::string action = fish_action(option);
		if (option.offer.of == Of::Files)
			lines += " -r -F";
		else if (!option.value.empty())
			lines += " -x" + (action.empty() ? "" : fmt::format(" -a '({})'", action));
		lines += fmt::format(" -d {}\n", fish_quoted(option.text));
	}
	for (const OptionDescription &argument : command.arguments)
		lines += fmt::format("complete -c icepath{} -a '({})' -d {}\n", condition, fish_action(argument),
							 fish_quoted(argument.text));
	return lines;
}

// A function that has a case for each command; for none yet there is `of_none`.
std::string bash_cases(const ProgramDescription &program, const char *name, const std::string &of_none,
					   const std::function<std::string(const CommandDescription &)> &of)
{
	std::string cases = fmt::format("\n{}()\n{{\n\tcase $command in\n\t'') {} ;;\n", name, of_none);
	for (const CommandDescription &command : program.commands)
		cases += fmt::format("\t{}) {} ;;\n", command.name, of(command));
	return cases + "\t*) return 1 ;;\n\tesac\n}\n";
}

} // namespace

std::string bash_completion(const ProgramDescription &program)
{
	std::string script = kBash;
	script += "\n# Offers what the value of $option may go on as. Fails if it has none.\n_icepath_value()\n{\n"
			  "\tcase \"$command $option\" in\n";
	std::vector<std::string> names;
	for (const CommandDescription &command : program.commands) {
		names.push_back(command.name);
		for (const OptionDescription &option : command.options)
			if (!option.value.empty()) {
				std::vector<std::string> patterns;
				for (const std::string &name : option.names)
					patterns.push_back(fmt::format("'{} {}'", command.name, name));
				script += fmt::format("\t{}) {} ;;\n", fmt::join(patterns, " | "), bash_action(option));
			}
	}
	script += "\t*) return 1 ;;\n\tesac\n}\n";
	script +=
		bash_cases(program, "_icepath_argument", fmt::format("_icepath_offer one \"$cur\" {}", fmt::join(names, " ")),
				   [](const CommandDescription &command) -> std::string {
					   return command.arguments.empty() ? "return 1" : bash_action(command.arguments.front());
				   });
	const std::string of_all = option_names(program.itself);
	script += bash_cases(program, "_icepath_options", fmt::format("_icepath_offer one \"$cur\" {}", of_all),
						 [](const CommandDescription &command) {
							 return fmt::format("_icepath_offer one \"$cur\" {}", option_names(command));
						 });
	return script + "\ncomplete -F _icepath icepath\n";
}

std::string zsh_completion(const ProgramDescription &program)
{
	std::string script = kZsh;
	script += "_icepath()\n{\n\tlocal context state state_descr line program=${~words[1]}\n\ttypeset -A opt_args\n"
			  "\tlocal -a commands=(\n";
	for (const CommandDescription &command : program.commands)
		script += fmt::format("\t\t{}\n", zsh_quoted(fmt::format("{}:{}", command.name, command.line)));
	script += fmt::format("\t)\n\t_arguments -C{} \\\n\t\t\t'1: :->command' '*:: :->rest' && return\n",
						  zsh_options(program.itself));
	script += "\tif [[ $state == command ]]; then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
			  "\tcase $words[1] in\n";
	for (const CommandDescription &command : program.commands)
		script += fmt::format("\t{})\n\t\t_arguments{}\n\t\t;;\n", command.name, zsh_options(command));
	return script + "\tesac\n}\n\n_icepath \"$@\"\n";
}

std::string fish_completion(const ProgramDescription &program)
{
	std::string script = kFish + fish_options(program.itself, " -n __icepath_in");
	for (const CommandDescription &command : program.commands)
		script +=
			fmt::format("complete -c icepath -n __icepath_in -a {} -d {}\n", command.name, fish_quoted(command.line));
	for (const CommandDescription &command : program.commands)
		script += fish_options(command, fmt::format(" -n '__icepath_in {}'", command.name));
	return script;
}

} // namespace icepath::cli
