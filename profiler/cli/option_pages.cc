// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/option_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "profiler/failure.h"

namespace icepath::cli {
namespace {

struct NamedThing {
	const char *name;
	const char *meaning;
	std::vector<std::string_view> commands; // whose pages have it; none: all
};

const std::vector<NamedThing> &environment()
{
	static const std::vector<NamedThing> variables = {
		{"ICEPATH_PLUGIN_PATH",
		 "folders of plug-ins, with colons between them, instead of lib/icepath beside the program's folder; an empty "
		 "one, as after the colon of FOLDER:, is that one",
		 {"icepath", "run", "list"}},
		{"TMPDIR", "where FIFOs and sockets of transports are made, instead of /tmp", {"icepath", "run"}},
		{"SUDO_UID, PKEXEC_UID, DOAS_USER", "the user that icepath becomes if it is started as root", {}},
		{"COLUMNS", "how wide output is that goes to no terminal: 60 columns or more, instead of 100", {}},
		{"NO_COLOR", "if it is set and not empty, output has no colour", {}},
		{"TERM", "if it is dumb, output has no colour, and no line is written over", {}}};
	return variables;
}

const std::vector<NamedThing> &files()
{
	static const std::vector<std::string_view> stored = {"icepath", "run",        "report", "explain",
														 "compare", "flamegraph", "export"};
	static const std::vector<NamedThing> names = {
		{"RUN/capture.icp", "every stamp and record of a run; all its other files are made from it", stored},
		{"RUN/capture.icp.partial", "the same while the run goes on, or after it was killed", stored},
		{"RUN/run.json", "the results for programs", {"icepath", "run", "report"}},
		{"RUN/report.html", "the report as a page for browsers", {"icepath", "run", "report"}},
		{"RUN/latency.svg, RUN/latency.folded", "the flame graph, and its folded stacks", {"icepath", "flamegraph"}},
		{"calibration.json", "what run --calibration takes", {"icepath", "calibrate"}},
		{"/run/icepath.journal",
		 "settings of the machine that a run under --isolate full or --tune has changed, until they are restored",
		 {"icepath", "run", "doctor"}}};
	return names;
}

bool concerns(const NamedThing &thing, const std::string &command)
{
	return thing.commands.empty() || std::ranges::find(thing.commands, command) != thing.commands.end();
}

// "icepath", "icepath run"
std::string call_of(const CommandDescription &command)
{
	return command.name == "icepath" ? command.name : "icepath " + command.name;
}

std::string synopsis(const CommandDescription &command)
{
	std::string text = call_of(command) + (command.name == "icepath" ? " [OPTION...] COMMAND" : " [OPTION...]");
	for (const OptionDescription &argument : command.arguments)
		text += " " + argument.names.front();
	return text;
}

// "-t, --targets TARGET,..."
std::string head_of(const OptionDescription &option)
{
	std::string head = fmt::format("{}", fmt::join(option.names, ", "));
	return option.value.empty() || option.value == head ? head : head + " " + option.value;
}

// Calls `one` for each option, and `begin` with the title before the first one of a group.
template <class Begin, class One> void each_option(const CommandDescription &command, Begin begin, One one)
{
	const std::string *group = nullptr;
	for (const OptionDescription &option : command.options) {
		if (!group || option.group != *group)
			begin(option.group);
		group = &option.group;
		one(option);
	}
}

// Breaks at spaces, into lines of up to `width` columns that follow each other with `between`.
std::string wrapped(std::string_view text, size_t width, const std::string &between)
{
	std::string lines;
	while (text.size() > width) {
		size_t space = text.rfind(' ', width);
		if (space == std::string_view::npos)
			space = text.find(' ');
		if (space == std::string_view::npos)
			break;
		lines += std::string(text.substr(0, space)) + between;
		text.remove_prefix(space + 1);
	}
	return lines + std::string(text);
}

std::string help_row(const std::string &head, const std::string &text)
{
	constexpr size_t kColumn = 26, kWidth = 80;
	const std::string indent = "\n" + std::string(kColumn, ' ');
	const std::string gap = head.size() + 4 <= kColumn ? std::string(kColumn - 2 - head.size(), ' ') : indent;
	return "  " + head + gap + wrapped(text, kWidth - kColumn, indent) + "\n";
}

std::string roff(std::string_view text)
{
	std::string escaped;
	for (const char c : text) {
		switch (c) {
		case '\\':
			escaped += "\\(rs";
			break;
		case '-':
			escaped += "\\-";
			break;
		case '\'':
			escaped += "\\(aq";
			break;
		case '"':
			escaped += "\\(dq";
			break;
		case '`':
			escaped += "\\(ga";
			break;
		case '^':
			escaped += "\\(ha";
			break;
		case '~':
			escaped += "\\(ti";
			break;
		default:
			escaped += c;
		}
	}
	return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

// May be broken behind its commas.
std::string roff_value(std::string_view value)
{
	std::string text;
	for (const char c : italic(value))
		text += c == ',' ? std::string(",\\:") : std::string(1, c);
	return text;
}

std::string roff_head_of(const OptionDescription &option)
{
	std::vector<std::string> names;
	for (const std::string &name : option.names)
		names.push_back(option.value == name ? italic(name) : bold(name));
	const std::string head = fmt::format("{}", fmt::join(names, ", "));
	return option.value.empty() || option.value == option.names.front() ? head : head + " " + roff_value(option.value);
}

std::string roff_row(const std::string &head, const std::string &text)
{
	return fmt::format(".TP\n{}\n{}\n", head, roff(text));
}

std::string roff_things(const char *title, const std::vector<NamedThing> &things, const std::string &command)
{
	std::string rows;
	for (const NamedThing &thing : things)
		if (concerns(thing, command))
			rows += roff_row(italic(thing.name), thing.meaning);
	return rows.empty() ? "" : fmt::format(".SH {}\n{}", title, rows);
}

std::string page_name(const CommandDescription &command)
{
	return command.name == "icepath" ? command.name : "icepath-" + command.name;
}

std::string see_also(const ProgramDescription &program, const CommandDescription &command)
{
	std::vector<std::string> pages = {page_name(program.itself)};
	for (const CommandDescription &one : program.commands)
		pages.push_back(page_name(one));
	std::erase(pages, page_name(command));
	std::ranges::sort(pages);
	for (std::string &page : pages)
		page = fmt::format(".BR {} (1)", roff(page));
	return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

// In a cell of a table.
std::string markdown(std::string_view text)
{
	std::string escaped;
	for (const char c : text)
		if (c == '|' || c == '*' || c == '<' || c == '`')
			escaped += std::string("\\") + c;
		else
			escaped += c;
	return escaped;
}

std::string markdown_code(std::string_view text)
{
	std::string escaped = "`";
	for (const char c : text)
		escaped += c == '|' ? std::string("\\|") : std::string(1, c);
	return escaped + "`";
}

std::string markdown_row(const std::string &head, const std::string &text)
{
	return fmt::format("| {} | {} |\n", markdown_code(head), markdown(text));
}

std::string markdown_command(const CommandDescription &command)
{
	std::string page = fmt::format("\n## {}\n\n    {}\n\n{}\n", call_of(command), synopsis(command), command.line);
	if (!command.more.empty())
		page += "\n" + wrapped(command.more, 120, "\n") + "\n";
	const bool has_groups = command.options.front().group != command.options.back().group;
	if (!command.arguments.empty())
		page += "\n| argument | meaning |\n|---|---|\n";
	for (const OptionDescription &argument : command.arguments)
		page += markdown_row(head_of(argument), argument.text);
	each_option(
		command,
		[&](const std::string &group) {
			page += (has_groups ? fmt::format("\n**{}**\n", group) : "") + "\n| option | meaning |\n|---|---|\n";
		},
		[&](const OptionDescription &option) { page += markdown_row(head_of(option), option.text); });
	return page;
}

std::string markdown_things(const char *title, const char *column, const std::vector<NamedThing> &things)
{
	std::string page = fmt::format("\n## {}\n\n| {} | meaning |\n|---|---|\n", title, column);
	for (const NamedThing &thing : things)
		page += markdown_row(thing.name, thing.meaning);
	return page;
}

std::string roff_options(const CommandDescription &command)
{
	std::string rows = ".SH OPTIONS\n";
	const bool has_groups = command.options.front().group != command.options.back().group;
	for (const OptionDescription &argument : command.arguments)
		rows += roff_row(roff_head_of(argument), argument.text);
	each_option(
		command, [&](const std::string &group) { rows += has_groups ? fmt::format(".SS {}\n", roff(group)) : ""; },
		[&](const OptionDescription &option) { rows += roff_row(roff_head_of(option), option.text); });
	return rows;
}

} // namespace

std::string help_of(const CommandDescription &command, const std::vector<CommandDescription> &commands)
{
	std::string help = wrapped(fmt::format("{} - {}", call_of(command), command.line), 80, "\n") +
					   fmt::format("\n\nUsage: {}\n", synopsis(command));
	if (!command.more.empty())
		help += "\n" + wrapped(command.more, 80, "\n") + "\n";
	if (!commands.empty())
		help += "\nCommands (icepath COMMAND --help has their options):\n";
	for (const CommandDescription &one : commands)
		help += help_row(one.name, one.line);
	if (!command.arguments.empty())
		help += "\nArguments:\n";
	for (const OptionDescription &argument : command.arguments)
		help += help_row(head_of(argument), argument.text);
	each_option(
		command, [&](const std::string &group) { help += fmt::format("\n{}:\n", group); },
		[&](const OptionDescription &option) { help += help_row(head_of(option), option.text); });
	return help;
}

std::string man_page(const ProgramDescription &program, const std::string &name, const Edition &edition)
{
	const CommandDescription *command = name.empty() ? &program.itself : nullptr;
	for (const CommandDescription &one : program.commands)
		if (one.name == name)
			command = &one;
	if (!command)
		throw Failure(ExitCode::Usage, fmt::format("gen man: \"{}\" isn't a command", name));
	std::string title = page_name(*command);
	std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
	// Neither hyphens within options nor stretched lines.
	std::string page =
		fmt::format(".\\\" Made by icepath gen man.\n.TH {} 1 \"{}\" \"icepath {}\" \"User Commands\"\n.nh\n.ad l\n",
					roff(title), edition.date, edition.version);
	page += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name(*command)), roff(command->line));
	page += fmt::format(".SH SYNOPSIS\n{}", bold(call_of(*command)));
	page += " [" + italic("OPTION") + "...]" + (command == &program.itself ? " " + italic("COMMAND") : "");
	for (const OptionDescription &argument : command->arguments)
		page += " " + italic(argument.names.front());
	page += fmt::format("\n.SH DESCRIPTION\n{}\n", roff(command->more.empty() ? command->line + "." : command->more));
	if (command == &program.itself) {
		page += ".SH COMMANDS\n";
		for (const CommandDescription &one : program.commands)
			page += roff_row(bold(page_name(one)) + "(1)", one.line);
	}
	page += roff_options(*command) + ".SH EXIT STATUS\n";
	for (const auto &[code, meaning] : kExitCodes)
		page += roff_row(bold(fmt::format("{}", static_cast<int>(code))), meaning);
	page += roff_things("FILES", files(), command->name) + roff_things("ENVIRONMENT", environment(), command->name);
	return page + see_also(program, *command);
}

std::string options_page(const ProgramDescription &program)
{
	std::string page =
		"<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Options\n\n"
		"Made by `icepath gen options`, from what help, man pages and completion are made of.\n"
		"[measuring.md](measuring.md) explains those of `run`, [explaining.md](explaining.md) those of `explain` and\n"
		"`flamegraph`, [verdicts.md](verdicts.md) those of `compare`, [machine.md](machine.md) those of commands that\n"
		"look at the machine.\n\n"
		"A value stands in capitals; of `{a,b}` it is one of these words. `,...` stands for more values, with "
		"commas between\nthem.\n";
	page += markdown_command(program.itself);
	page += "\n| command | what it does |\n|---|---|\n";
	for (const CommandDescription &command : program.commands)
		page +=
			fmt::format("| [{}](#{}) | {} |\n", call_of(command), "icepath-" + command.name, markdown(command.line));
	for (const CommandDescription &command : program.commands)
		page += markdown_command(command);
	page += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
	for (const auto &[code, meaning] : kExitCodes)
		page += markdown_row(fmt::format("{}", static_cast<int>(code)), meaning);
	return page + markdown_things("Environment", "variable", environment()) + markdown_things("Files", "file", files());
}

} // namespace icepath::cli
