// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <sstream>

#include "profiler/cli/arm_option.h"
#include "profiler/cli/completion.h"
#include "profiler/cli/described.h"
#include "profiler/cli/option_pages.h"
#include "profiler/cli/option_texts.h"
#include "profiler/cli/option_values.h"
#include "profiler/cli/output.h"
#include "profiler/cli/version.h"
#include "profiler/failure.h"
#include "profiler/rundir/limits.h"

namespace icepath::cli {
namespace {

std::optional<capture::Tier> tier_of(const std::string &text)
{
	if (text.empty())
		return std::nullopt;
	return values_of<capture::Tier>("--tier", {text}, capture::kTierNames).front();
}

void check(RunOptions &run, const RunTexts &texts)
{
	run.wishes.targets = items_of("--targets", run.wishes.targets);
	for (const std::string &size : items_of("--sizes", texts.sizes))
		run.wishes.sizes.push_back(bytes_of(size));
	run.duration_s = seconds_of(texts.duration);
	check_expectations(run.gates);
	run.tier = tier_of(texts.tier);
	run.isolate = value_of<cpuset::Level>("--isolate", texts.isolate, cpuset::kLevelNames);
	run.tunings = tunings_of(texts.tunings);
	run.arms = arms_of(texts.arms, !texts.no_control);
	if (texts.no_control && run.arms.empty())
		throw Failure(ExitCode::Usage, "--no-control: only runs with --arm have a control");
	run.wishes.patterns = values_of<model::Pattern>("--patterns", texts.patterns, model::kPatternNames);
	run.wishes.waits = values_of<model::Wait>("--wait", texts.waits, model::kWaitNames);
	run.wishes.between = values_of<model::Between>("--between", texts.between, model::kBetweenNames);
	for (const std::string &qos : texts.qos)
		add_qos(qos, run.wishes.qos);
	take_factors(texts.factors, run.wishes.levels);
	run.wishes.limits.max_loss = loss_of(texts.max_loss);
	run.wishes.limits.max_p99_ns = nanoseconds_of("--max-p99", texts.max_p99);
	// With a higher limit, a block that can reach it takes seconds: rate::terms_of().
	constexpr uint64_t kShortestP99Ns = 1'000, kLongestP99Ns = 100'000'000;
	if (run.wishes.limits.max_p99_ns < kShortestP99Ns || run.wishes.limits.max_p99_ns > kLongestP99Ns)
		throw Failure(ExitCode::Usage, fmt::format("--max-p99: {} is outside of 1us to 100ms", texts.max_p99));
	run.wishes.sparse_period_ns = nanoseconds_of("--sparse-period", texts.sparse_period);
	constexpr uint64_t kShortestPeriodNs = 10'000'000;
	if (run.wishes.sparse_period_ns < kShortestPeriodNs)
		throw Failure(ExitCode::Usage,
					  fmt::format("--sparse-period: {} is outside of 10ms to 1s", texts.sparse_period));
	if (!(run.wishes.rate_hz >= 1 && run.wishes.rate_hz <= 1e6))
		throw Failure(ExitCode::Usage,
					  fmt::format("--rate: {} is outside 1 to 1000000 messages per second", run.wishes.rate_hz));
	if (texts.messages < 1 || texts.messages > rundir::kMaxMessages)
		throw Failure(ExitCode::Usage, fmt::format("--messages: {} is outside of 1 to {} counted messages a block",
												   texts.messages, rundir::kMaxMessages));
	run.messages = static_cast<uint32_t>(texts.messages);
	if (run.name.empty() || run.name.find('/') != std::string::npos)
		throw Failure(ExitCode::Usage, "--name: give a plain name, without '/'");
}

// An empty value usually comes from an unset variable in a script.
void refuse_empty_values(CLI::App &app)
{
	const CLI::Validator is_something(
		[](const std::string &text) { return text.empty() ? std::string("its value is empty") : std::string(); }, "");
	for (CLI::App *command : app.get_subcommands({}))
		for (CLI::Option *option : command->get_options())
			if (option->get_items_expected_max() > 0)
				option->check(is_something);
}

// Also does the remaining checks of its options.
Command chosen(const CLI::App &app, Commands &commands)
{
	if (app.got_subcommand("run")) {
		check(commands.run, commands.texts);
		return commands.run;
	}
	if (app.got_subcommand("attach")) {
		if (!commands.attach_processes.empty())
			commands.attach.processes = processes_of(commands.attach_processes);
		else if (commands.attach.name.empty() && commands.attach.command.empty())
			throw Failure(ExitCode::Usage, "attach: name programs by --pid or --name, or a command after --");
		if (!commands.attach_duration.empty())
			commands.attach.duration_s = watched_seconds_of(commands.attach_duration);
		return commands.attach;
	}
	if (app.got_subcommand("report")) {
		check_expectations(commands.report.gates);
		return commands.report;
	}
	if (app.got_subcommand("explain")) {
		commands.explain.question.tail = percentile_of(commands.tail);
		if (!commands.message.empty())
			commands.explain.question.message = message_of(commands.message);
		return commands.explain;
	}
	if (app.got_subcommand("compare")) {
		using Form = report::CompareWishes::Form;
		report::CompareWishes &wishes = commands.compare.wishes;
		wishes.arms = items_of("--arms", commands.compared_arms);
		wishes.repeats = items_of("--repeats", commands.repeats);
		wishes.delta = delta_of(commands.delta);
		wishes.form = commands.compare_json ? Form::Json : commands.compare_markdown ? Form::Markdown : Form::Text;
		return commands.compare;
	}
	if (app.got_subcommand("flamegraph")) {
		report::FlameWishes &wishes = commands.flamegraph.wishes;
		wishes.kind = value_of<analysis::FlameKind>("--kind", commands.flame_kind, analysis::kFlameKindNames);
		if (wishes.tail && wishes.kind != analysis::FlameKind::Path)
			throw Failure(ExitCode::Usage, "--tail: only of --kind path: the others aren't of single messages");
		return commands.flamegraph;
	}
	if (app.got_subcommand("export")) {
		check_expectations(commands.exported.gates);
		commands.exported.kind =
			value_of<analysis::FlameKind>("--kind", commands.exported_kind, analysis::kFlameKindNames);
		commands.exported.formats =
			values_of<exports::ExportFormat>("--format", commands.formats, exports::kExportFormatNames);
		return commands.exported;
	}
	if (app.got_subcommand("calibrate"))
		return commands.calibrate;
	if (app.got_subcommand("selftest")) {
		commands.selftest.only = items_of("--only", commands.selftest.only);
		commands.selftest.duration_s = seconds_of(commands.selftest_duration);
		commands.selftest.tier = tier_of(commands.selftest_tier);
		return commands.selftest;
	}
	if (app.got_subcommand("doctor")) {
		commands.doctor.tier = tier_of(commands.doctor_tier);
		commands.doctor.duration_s = seconds_of(commands.doctor_duration);
		commands.doctor.isolate = value_of<cpuset::Level>("--isolate", commands.doctor_isolate, cpuset::kLevelNames);
		if (commands.doctor.isolate == cpuset::Level::Soft)
			throw Failure(ExitCode::Usage, "--isolate: soft isolates only in blocks of a run: give none or full");
		return commands.doctor;
	}
	if (app.got_subcommand("setup"))
		return commands.setup;
	return commands.list;
}

// What `icepath gen` prints. The build makes files of it.
std::string generated(const CLI::App &app, const PageWish &wish)
{
	const ProgramDescription program = described(app);
	if (wish.what == "man")
		return man_page(program, wish.of_command, edition());
	if (!wish.of_command.empty())
		throw Failure(ExitCode::Usage, fmt::format("gen {}: only gen man is of a command", wish.what));
	if (wish.what == "bash")
		return bash_completion(program);
	if (wish.what == "zsh")
		return zsh_completion(program);
	if (wish.what == "fish")
		return fish_completion(program);
	if (wish.what == "options")
		return options_page(program);
	throw Failure(ExitCode::Usage, fmt::format("gen: \"{}\" isn't one of man, bash, zsh, fish, options", wish.what));
}

std::string help_text(const CLI::App *app, const std::string & /*name*/, CLI::AppFormatMode /*mode*/)
{
	return help_of(described_command(*app),
				   app->get_parent() ? std::vector<CommandDescription>{} : described(*app).commands);
}

} // namespace

std::optional<CommandLine> parse(int argc, char **argv)
{
	CommandLine line;
	for (int i = 0; i < argc; i++)
		line.text += std::string(i ? " " : "") + argv[i];
	CLI::App app("where does my message's latency go?", "icepath");
	app.footer(
		"Sends messages over the kernel's IPC transports and over middleware, and divides the latency of each into "
		"layers: the sender's code, its system call, the wakeup, the wait for a CPU, and whatever interfered, by "
		"name. Results go to stdout, progress and errors to stderr.");
	app.formatter_fn(help_text);
	app.set_help_flag("-h,--help", "print help");
	app.set_version_flag("--version", version_text(), "print the version, the commit, and versions of formats");
	app.require_subcommand(1);
	app.add_flag("--no-color,--no-colour", line.no_colour, "no colour; also after a command");
	app.fallthrough();
	Commands commands;
	add_commands(app, commands);
	refuse_empty_values(app);
	try {
		app.parse(argc, argv);
	} catch (const CLI::Success &help) {
		std::ostringstream text;
		app.exit(help, text, text);
		print(text.str());
		return std::nullopt;
	} catch (const CLI::ParseError &error) {
		// CLI11 reports an unknown command as a missing one.
		if (dynamic_cast<const CLI::RequiredError *>(&error) && app.get_subcommands().empty() && argc > 1)
			throw Failure(ExitCode::Usage, fmt::format("\"{}\" isn't a command: icepath --help lists them", argv[1]));
		throw Failure(ExitCode::Usage, fmt::format("{} (icepath --help lists commands and options)", error.what()));
	}
	if (app.got_subcommand("gen")) {
		print(generated(app, commands.page));
		return std::nullopt;
	}
	line.command = chosen(app, commands);
	return line;
}

} // namespace icepath::cli
