// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "profiler/cli/factor_options.h"
#include "profiler/cli/option_values.h"
#include "profiler/cli/output.h"
#include "profiler/failure.h"
#include "profiler/rundir/limits.h"
#include "profiler/selftest/plugin/stretch.h"

namespace icepath::cli {
namespace {

// Option texts of `run`, before they are checked.
struct RunTexts {
	std::vector<std::string> sizes, patterns, qos, tunings,
		waits = {std::string(model::name(model::Wait::Block))},
		between = {std::string(model::name(model::Between::Processes))};
	FactorTexts factors;
	std::string duration = "60", max_loss = "0", max_p99 = "1ms", sparse_period = "200ms", isolate = "soft", tier;
	int64_t messages = 1000;
};

void add_tier(CLI::App &app, std::string &tier)
{
	app.add_option("--tier", tier,
				   fmt::format("use probes of this kind wherever they exist: {}", fmt::join(capture::kTierNames, ", ")))
		->default_str("the best of each");
}

std::optional<capture::Tier> tier_of(const std::string &text)
{
	if (text.empty())
		return std::nullopt;
	return values_of<capture::Tier>("--tier", {text}, capture::kTierNames).front();
}

void add_selftest(CLI::App &app, SelftestOptions &selftest, std::string &duration, std::string &tier)
{
	app.add_option("--only", selftest.only, "injections to make; default: all");
	app.add_option("-d,--duration", duration, "time for everything: seconds, or 90s, 5m, 1h")->capture_default_str();
	app.add_option("--cpus", selftest.cpus, "SENDER,RECEIVER: CPUs to pin the sides to");
	add_tier(app, tier);
	app.add_option("--stretch", selftest.stretch, "factor by which delays are longer, and messages rarer")
		->check(CLI::Range(1, selftest::kMostStretch))
		->capture_default_str();
	app.add_option("--json", selftest.json, "file to write the matrix to, as JSON");
	app.add_option("-o,--output", selftest.output, "run directory to make and keep");
	app.add_flag("-q,--quiet", selftest.quiet, "no progress");
}

void add_run(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	app.add_option("-t,--targets,--transports", run.wishes.targets,
				   "transports and middleware to measure, by their names (icepath list); fastdds for all of "
				   "fastdds/...; or all, all-transports, "
				   "all-installed, which "
				   "is all middleware; default: the usual transports");
	app.add_option("-s,--sizes", texts.sizes, "payload sizes: 64,4k,1M");
	app.add_option("--patterns", texts.patterns, fmt::format("{}", fmt::join(model::kPatternNames, ", ")))
		->default_str("pingpong,oneway, and sparse where the time has room for it");
	app.add_option("-w,--wait", texts.waits, fmt::format("how receivers wait: {}", fmt::join(model::kWaitNames, ", ")))
		->capture_default_str();
	app.add_option("--between", texts.between,
				   fmt::format("where sender and receiver are: {}", fmt::join(model::kBetweenNames, ", ")))
		->capture_default_str();
	app.add_option("--rate", run.wishes.rate_hz,
				   "messages per second of oneway and fanout, and of all senders of fanin together")
		->capture_default_str();
	app.add_option("--sparse-period", texts.sparse_period, "sparse: time from one message to the next")
		->capture_default_str();
	app.add_option(
		   "--qos", texts.qos,
		   fmt::format("POLICY=VALUE[,VALUE...], repeatable: quality of service of targets that have the policy: {}",
					   fmt::join(qos_examples(), ", ")))
		->allow_extra_args(false);
	add_factors(app, texts.factors);
	app.add_option("--max-loss", texts.max_loss, "max-rate: share of messages that may be lost, 0.1% or 0.001")
		->capture_default_str();
	app.add_option("--max-p99", texts.max_p99, "max-rate: longest p99, from when a message was due to its reception")
		->capture_default_str();
	app.add_option("-m,--messages", texts.messages, "counted messages per block and direction, at most")
		->capture_default_str();
	app.add_option("-d,--duration", texts.duration, "time for everything: seconds, or 90s, 5m, 1h")
		->capture_default_str();
	app.add_option(
		"--cpus", run.cpus,
		"SENDER,RECEIVER[,MORE...]: CPUs to pin the sides to; several receivers, or senders, take theirs in turn");
	app.add_option("--daemon-cpus", run.daemon_cpus, "CPUs of middleware's daemons, as 0-1,3")
		->default_str("where icepath itself runs");
	app.add_option("--isolate", texts.isolate,
				   fmt::format("how far the run's CPUs are isolated: {}", fmt::join(cpuset::kLevelNames, ", ")))
		->capture_default_str();
	app.add_option("--tune", texts.tunings,
				   "LIMIT=VALUE[,...], repeatable: limits of the kernel to raise for the run, as net.core.rmem_max=8M")
		->allow_extra_args(false);
	app.add_flag("--idle-states", run.idle_states,
				 "keep the machine's own idle states, instead of keeping CPUs awake in blocks");
	app.add_flag("--free-library-threads", run.frees_library_threads,
				 "let threads of libraries run on any CPU, instead of on that of their side");
	app.add_flag("--stacks", run.stacks,
				 "sample which functions run, in one round of eight: see icepath explain --stacks");
	add_tier(app, texts.tier);
	app.add_option("--calibration", run.calibration,
				   "file of `icepath calibrate`: places what no probe sees within its bounds");
	app.add_option("-o,--output", run.output, "run directory to make, in a folder that exists (results/<time>-<name>)");
	app.add_option("--name", run.name, "name of the run directory")->capture_default_str();
	app.add_flag(
		"--strict", run.strict,
		"exit with 4, and say why, where a cell failed or has no data, or where messages or capture records were lost");
	app.add_flag("-q,--quiet", run.quiet, "no progress");
}

void check(RunOptions &run, const RunTexts &texts)
{
	run.wishes.targets = items_of("--targets", run.wishes.targets);
	for (const std::string &size : items_of("--sizes", texts.sizes))
		run.wishes.sizes.push_back(bytes_of(size));
	run.duration_s = seconds_of(texts.duration);
	run.tier = tier_of(texts.tier);
	run.isolate = value_of<cpuset::Level>("--isolate", texts.isolate, cpuset::kLevelNames);
	run.tunings = tunings_of(texts.tunings);
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

// The options of all commands, while CLI11 parses.
struct Commands {
	RunOptions run;
	RunTexts texts;
	ReportOptions report;
	ExplainOptions explain;
	std::string tail = "99", message; // of explain
	FlamegraphOptions flamegraph;
	ExportOptions exported;
	std::vector<std::string> formats = {"hgrm"};
	std::string flame_kind = "path", exported_kind = "path";
	CalibrateOptions calibrate;
	SelftestOptions selftest;
	std::string selftest_duration = "60", selftest_tier;
	DoctorOptions doctor;
	std::string doctor_tier, doctor_duration = "5", doctor_isolate = "none";
	SetupOptions setup;
	ListOptions list;
};

constexpr const char *kCellHelp =
	"only cells of this target, or whose title begins with this, or else contains it, as \"tcp 64 B\"";

void add_explain(CLI::App &app, Commands &commands)
{
	report::Question &question = commands.explain.question;
	app.add_option("RUN", commands.explain.run, "run directory")->required();
	CLI::Option *cell = app.add_option("--cell", question.cell, kCellHelp)->default_str("every cell");
	CLI::Option *against =
		app.add_option("--against", question.against,
					   "why the cell that --cell names is slower than this one, as udp: of several those most alike")
			->needs(cell);
	CLI::Option *tail =
		app.add_option("--tail", commands.tail, "percentile that the slowest messages begin with, as 99.9")
			->capture_default_str();
	CLI::Option *modes =
		app.add_flag("--modes", question.modes, "by which layers the modes of a cell's messages differ");
	CLI::Option *worst =
		app.add_flag("--worst", question.worst, "each cell's slowest message with a complete path, step by step");
	CLI::Option *message =
		app.add_option("--message", commands.message, "ROUND:SEQ[:back]: this message, step by step");
	CLI::Option *stacks =
		app.add_flag("--stacks", question.stacks, "in which functions each layer's time goes, of a run with --stacks");
	for (CLI::Option *one : {against, tail, modes, worst, message, stacks})
		for (CLI::Option *other : {against, tail, modes, worst, message, stacks})
			if (one != other)
				one->excludes(other);
	app.add_flag("--json", question.json, "as JSON")->excludes(modes)->excludes(stacks);
	app.add_flag("-v,--verbose", question.verbose, "the tables of every cell, instead of a summary of all");
}

std::string kind_help()
{
	return fmt::format("what a flame graph is of: {}; all but path take a run with --stacks",
					   fmt::join(analysis::kFlameKindNames, ", "));
}

// Commands that need only a run directory.
void add_of_stored_run(CLI::App &app, Commands &commands)
{
	CLI::App *report = app.add_subcommand("report", "print a run's report again");
	report->add_option("RUN", commands.report.run, "run directory")->required();
	report->add_flag("-v,--verbose", commands.report.verbose,
					 "all that is known: layers in us, every notice, noise, probes");
	CLI::Option *json = report->add_flag("--json", commands.report.json, "print run.json to stdout");
	report->add_flag("--html", commands.report.html, "write report.html into the run directory")->excludes(json);
	add_explain(*app.add_subcommand("explain", "why a run's slowest messages are slow, or a cell slower than another"),
				commands);
	CLI::App *flamegraph =
		app.add_subcommand("flamegraph", "a run's latency, or its threads, as an interactive SVG and folded stacks");
	flamegraph->add_option("RUN", commands.flamegraph.run, "run directory")->required();
	flamegraph->add_option("-o,--output", commands.flamegraph.output,
						   "folder for the files (the run directory), or a file: NAME.svg, NAME.folded");
	flamegraph->add_option("--cell", commands.flamegraph.wishes.cell, kCellHelp)->default_str("every cell");
	flamegraph->add_option("--kind", commands.flame_kind, kind_help())->capture_default_str();
	flamegraph->add_flag("--tail", commands.flamegraph.wishes.tail, "only the slowest 1 % of each cell's messages");
	flamegraph->add_option("--diff", commands.flamegraph.wishes.other, "run directory to compare with");
	flamegraph->add_flag("--folded", commands.flamegraph.folded_only, "print folded stacks, write nothing");
	CLI::App *exported = app.add_subcommand("export", "a run's latencies for other tools");
	exported->add_option("RUN", commands.exported.run, "run directory")->required();
	exported
		->add_option("-f,--format", commands.formats, fmt::format("{}", fmt::join(exports::kExportFormatNames, ", ")))
		->capture_default_str();
	exported->add_option("--kind", commands.exported_kind, "of speedscope and firefox: " + kind_help())
		->capture_default_str();
	exported->add_option("-o,--output", commands.exported.output, "folder for the files (the run directory)");
}

void add_commands(CLI::App &app, Commands &commands)
{
	add_run(*app.add_subcommand("run", "benchmark, break down, report; needs root, or icepath setup"), commands.run,
			commands.texts);
	add_of_stored_run(app, commands);
	CLI::App *calibrate = app.add_subcommand(
		"calibrate", "find when, within its calls, a queue holds a message, by hardware watchpoints; needs root");
	calibrate->add_option("-o,--output", commands.calibrate.output, "file to write")->capture_default_str();
	calibrate->add_option("--cpu", commands.calibrate.cpu, "CPU to run on")->default_str("a run's receiver's");
	add_selftest(
		*app.add_subcommand("selftest", "check that delays injected into known layers are found there; needs root"),
		commands.selftest, commands.selftest_duration, commands.selftest_tier);
	CLI::App *doctor = app.add_subcommand("doctor", "try what this machine can do");
	doctor->add_flag("--json", commands.doctor.json, "as JSON");
	doctor->add_flag("-v,--verbose", commands.doctor.verbose, "everything that was tried, with effects and remedies");
	doctor->add_flag("--restore", commands.doctor.restore,
					 "only undo what a killed run with --isolate full has changed; as root");
	CLI::Option *noise = doctor->add_flag("--noise", commands.doctor.noise,
										  "only measure what takes time from a thread that spins on the CPUs; as root");
	doctor->add_option("-d,--duration", commands.doctor_duration, "time to measure noise: seconds, or 90s, 5m, 1h")
		->needs(noise)
		->capture_default_str();
	doctor->add_option("--cpus", commands.doctor.cpus, "CPU,CPU[,MORE...]: where to measure noise")->needs(noise);
	doctor
		->add_option("--isolate", commands.doctor_isolate,
					 "none, or full to measure noise before and after isolating the CPUs")
		->needs(noise)
		->capture_default_str();
	add_tier(*doctor, commands.doctor_tier);
	CLI::App *setup = app.add_subcommand(
		"setup", "let a group measure without root, or say what that would change and who may then do what");
	CLI::Option *caps = setup->add_flag("--caps", commands.setup.caps,
										"give capabilities to icepath-helper, for the members of a group; as root");
	setup->add_option("--group", commands.setup.group, "group whose members may measure")->capture_default_str();
	setup->add_flag("--undo", commands.setup.undo, "make icepath-helper what it was before --caps")->needs(caps);
	app.add_subcommand("list", "transports, middleware, and what they support")
		->add_flag("--json", commands.list.json, "as JSON");
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
	if (app.got_subcommand("report"))
		return commands.report;
	if (app.got_subcommand("explain")) {
		commands.explain.question.tail = percentile_of(commands.tail);
		if (!commands.message.empty())
			commands.explain.question.message = message_of(commands.message);
		return commands.explain;
	}
	if (app.got_subcommand("flamegraph")) {
		report::FlameWishes &wishes = commands.flamegraph.wishes;
		wishes.kind = value_of<analysis::FlameKind>("--kind", commands.flame_kind, analysis::kFlameKindNames);
		if (wishes.tail && wishes.kind != analysis::FlameKind::Path)
			throw Failure(ExitCode::Usage, "--tail: only of --kind path: the others aren't of single messages");
		return commands.flamegraph;
	}
	if (app.got_subcommand("export")) {
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

} // namespace

std::optional<CommandLine> parse(int argc, char **argv)
{
	CommandLine line;
	for (int i = 0; i < argc; i++)
		line.text += std::string(i ? " " : "") + argv[i];
	CLI::App app("icepath: where does my message's latency go?", "icepath");
	app.set_version_flag("--version", "icepath " ICEPATH_VERSION);
	app.require_subcommand(1);
	app.add_flag("--no-color,--no-colour", line.no_colour, "plain text");
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
	line.command = chosen(app, commands);
	return line;
}

} // namespace icepath::cli
