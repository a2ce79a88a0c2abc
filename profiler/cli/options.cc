// SPDX-License-Identifier: Apache-2.0
// The definition of every command and option. Help, man pages, completion and docs/options.md are made from it.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiler/cli/factor_options.h"
#include "profiler/cli/option_texts.h"
#include "profiler/cli/value_names.h"
#include "profiler/selftest/plugin/stretch.h"

namespace icepath::cli {
namespace {

// An option with what stands for its value.
template <class Value>
CLI::Option *add(CLI::App &app, const std::string &names, Value &value, const std::string &value_name,
				 const std::string &text)
{
	return app.add_option(names, value, text)->type_name(value_name);
}

// Options that are added from here on stand below this title.
void begin_group(CLI::App &app, const char *title) { app.option_defaults()->group(title); }

void add_tier(CLI::App &app, std::string &tier)
{
	add(app, "--tier", tier, one_of(capture::kTierNames), "use probes of this kind wherever they exist")
		->default_str("the best of each");
}

void add_duration(CLI::App &app, std::string &duration, const char *of_what)
{
	add(app, "-d,--duration", duration, value_name::kTime, fmt::format("{}: seconds, or 90s, 5m, 1h", of_what))
		->capture_default_str();
}

void add_what_is_measured(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	begin_group(app, "What is measured");
	add(app, "-t,--targets,--transports", run.wishes.targets, value_name::kTarget,
		"transports and middleware, by their names (icepath list); fastdds for all of fastdds/...; all, "
		"all-transports, or all-installed, which is all middleware")
		->default_str("the usual transports");
	add(app, "-s,--sizes", texts.sizes, value_name::kSize, "payload sizes, as 64, 4k, 1M (powers of 1024)")
		->default_str("64,4096 for pingpong, else 64");
	add(app, "--patterns", texts.patterns, one_of(model::kPatternNames), "who sends when")
		->default_str("pingpong,oneway, and sparse where the time has room for it; without -t the last two are of "
					  "uds-stream, tcp, shm-ring and null only");
	add(app, "-w,--wait", texts.waits, one_of(model::kWaitNames), "how receivers wait")->capture_default_str();
	add(app, "--between", texts.between, one_of(model::kBetweenNames), "where sender and receiver are")
		->capture_default_str();
	add(app, "--qos", texts.qos, value_name::kQos,
		fmt::format("quality of service of targets that have the policy, repeatable: {}",
					fmt::join(qos_examples(), ", ")))
		->allow_extra_args(false)
		->default_str("the adapter's choice");
}

void add_how_it_is_measured(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	begin_group(app, "How it is measured");
	add_duration(app, texts.duration, "time for everything, report included");
	add(app, "--cpus", run.cpus, value_name::kCpus,
		"SENDER,RECEIVER[,MORE...]: CPUs to pin the sides to; the same twice is allowed; several receivers, or "
		"senders, take theirs in turn")
		->default_str("the best pair");
	add(app, "--isolate", texts.isolate, one_of(cpuset::kLevelNames), "how far the run's CPUs are isolated")
		->capture_default_str();
	add(app, "-m,--messages", texts.messages, value_name::kCount,
		"counted messages per block and direction, at most, up to 1000000; max-rate chooses its own number")
		->capture_default_str();
	add(app, "--tune", texts.tunings, value_name::kLimit,
		"limits of the kernel to raise for the run, as net.core.rmem_max=8M, repeatable")
		->allow_extra_args(false);
	add(app, "--daemon-cpus", run.daemon_cpus, value_name::kCpus, "CPUs of middleware's daemons, as 0-1,3")
		->default_str("where icepath itself runs");
	app.add_flag("--free-library-threads", run.frees_library_threads,
				 "let threads of libraries run on any CPU, instead of on that of their side");
	app.add_flag("--idle-states", run.idle_states,
				 "keep the machine's own idle states, instead of keeping CPUs awake in blocks");
}

void add_gates(CLI::App &app, GateOptions &gates)
{
	add(app, "--gate", gates.files, value_name::kFile,
		"file of gates, in TOML: what figures of which cells are expected to be; exits with 1 if one is missed, 4 if "
		"one is undecided, 2 if one is missing; repeatable")
		->allow_extra_args(false);
	add(app, "--expect", gates.expectations, value_name::kExpectation,
		"the same for all cells, as 'p50 < 40us', 'layer(wakeup) < 9us', 'lost == 0'; repeatable")
		->allow_extra_args(false);
}

void add_arms(CLI::App &app, RunTexts &texts)
{
	begin_group(app, "What is compared");
	add(app, "--arm", texts.arms, value_name::kArmParts,
		"a build or a configuration to measure beside others, in the same rounds, repeatable: plugins=FOLDER of "
		"plug-ins, lib=FOLDER of libraries, config=FILE of Cyclone DDS or Fast DDS, env=NAME=VALUE; a single one is "
		"measured beside what icepath has without it")
		->allow_extra_args(false);
	app.add_flag("--no-control", texts.no_control, "don't measure the first arm twice, to see what differs by chance");
}

void add_what_comes_out(CLI::App &app, RunOptions &run)
{
	begin_group(app, "What comes out");
	add(app, "-o,--output", run.output, value_name::kFolder,
		"run directory to make, new or empty, in a folder that exists")
		->default_str("results/TIME-NAME");
	add(app, "--name", run.name, value_name::kName, "name of the run directory")->capture_default_str();
	app.add_flag("--strict", run.strict,
				 "exit with 4, and say why, if a cell has no data, a block failed, a reliable transport lost messages, "
				 "payloads were damaged, capture records were lost, the kernel skipped probes, or the run is partial");
	add_gates(app, run.gates);
	app.add_flag("-q,--quiet", run.quiet, "no progress");
}

void add_probes(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	begin_group(app, "Probes");
	app.add_flag("--stacks", run.stacks,
				 "sample which functions run, and in which threads sleep and are woken, in one round of eight: see "
				 "icepath explain --stacks");
	add_tier(app, texts.tier);
	add(app, "--calibration", run.calibration, value_name::kFile,
		"file of icepath calibrate, of this machine and kernel: places what no probe sees within its bounds");
}

void add_of_patterns(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	begin_group(app, "Of some patterns");
	add(app, "--rate", run.wishes.rate_hz, value_name::kHertz,
		"messages per second of oneway and fanout, and of all senders of fanin together, 1 to 1000000")
		->capture_default_str();
	add(app, "--sparse-period", texts.sparse_period, value_name::kTime,
		"sparse: time from one message to the next, 10ms to 1s")
		->capture_default_str();
	add(app, "--max-loss", texts.max_loss, value_name::kShare,
		"max-rate: share of messages that may be lost, as 0.1% or 0.001, up to 50%")
		->capture_default_str();
	add(app, "--max-p99", texts.max_p99, value_name::kTime,
		"max-rate: longest p99, from when a message was due to its reception, 1us to 100ms")
		->capture_default_str();
	add_factors(app, texts.factors, "Of some patterns", "Conditions");
}

void add_run(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	app.footer("Measures for the given time and prints the report. All values of all lists are combined; what a target "
			   "doesn't support is left out, with a notice. Root is given up at once: workers and files belong to the "
			   "user who called sudo.");
	add_what_is_measured(app, run, texts);
	add_how_it_is_measured(app, run, texts);
	add_arms(app, texts);
	add_what_comes_out(app, run);
	add_of_patterns(app, run, texts);
	add_probes(app, run, texts);
	app.get_help_ptr()->group("Help");
}

void add_attach(CLI::App &app, Commands &commands)
{
	app.footer("Watches the programs as they are, with all of their threads and the processes that they start, until "
			   "Ctrl-C, until they end, or until COMMAND does. They aren't stopped, traced or changed, and what they "
			   "send isn't read. Root is given up once the programs are named.");
	CLI::Option *pid = add(app, "-p,--pid", commands.attach_processes, value_name::kPid, "processes, by number");
	add(app, "--name", commands.attach.name, value_name::kText,
		"processes, by name (comm), as 'postgres' or 'node*'; those that one of them has started are watched with it")
		->excludes(pid);
	add(app, "COMMAND", commands.attach.command, value_name::kText,
		"after --, a program to start and watch, also beside processes: as the user, under sudo with no_new_privs. "
		"Watching ends with it");
	add(app, "-d,--duration", commands.attach_duration, value_name::kTime,
		"time to watch them: seconds, or 90s, 5m, 1h")
		->default_str("until they end");
	add(app, "-o,--output", commands.attach.output, value_name::kFolder,
		"run directory to make, new or empty, in a folder that exists")
		->default_str("results/TIME-attach");
	app.add_flag("--live", commands.attach.live,
				 "show the report meanwhile, on a terminal: each second that of the last ten, beside figures of all");
	app.add_flag("-q,--quiet", commands.attach.quiet, "no progress");
}

void add_selftest(CLI::App &app, Commands &commands)
{
	SelftestOptions &selftest = commands.selftest;
	app.footer("Each injection has two cells that differ by it alone. The matrix shows in which layers the added time "
			   "was found.");
	add(app, "--only", selftest.only, value_name::kInjection, "injections to make")->default_str("all");
	add_duration(app, commands.selftest_duration, "time for everything");
	add(app, "--cpus", selftest.cpus, value_name::kCpus, "SENDER,RECEIVER: CPUs to pin the sides to")
		->default_str("the best pair");
	add_tier(app, commands.selftest_tier);
	add(app, "--stretch", selftest.stretch, value_name::kCount,
		fmt::format("factor by which delays are longer, and messages rarer, up to {}: for slow (emulated) machines",
					selftest::kMostStretch))
		->check(CLI::Range(1, selftest::kMostStretch).description(""))
		->capture_default_str();
	add(app, "--json", selftest.json, value_name::kFile, "file to write the matrix to, as JSON");
	add(app, "-o,--output", selftest.output, value_name::kFolder, "run directory to make and keep");
	app.add_flag("-q,--quiet", selftest.quiet, "no progress");
}

constexpr const char *kCellHelp =
	"only cells of this target, or whose title begins with this, or else contains it, as \"tcp 64 B\"";

void add_run_directory(CLI::App &app, std::string &run)
{
	add(app, "RUN", run, value_name::kRun, "run directory")->required();
}

void add_explain(CLI::App &app, Commands &commands)
{
	report::Question &question = commands.explain.question;
	app.footer("Also says by which layers the modes of a cell differ, what happened to one message, or in which "
			   "functions time goes. Of a run of attach it says why requests between two programs are slow, which "
			   "--cell names as 'client server', and what happened to one of them. A question that the run can't "
			   "answer is refused, with the reason.");
	add_run_directory(app, commands.explain.run);
	CLI::Option *cell = add(app, "--cell", question.cell, value_name::kText, kCellHelp)->default_str("every cell");
	CLI::Option *tail = add(app, "--tail", commands.tail, value_name::kPercentile,
							"percentile that the slowest messages begin with, 50 to 99.999")
							->capture_default_str();
	CLI::Option *against =
		add(app, "--against", question.against, value_name::kText,
			"why the cell that --cell names is slower than this one, as udp: of several those most alike")
			->needs(cell);
	CLI::Option *modes =
		app.add_flag("--modes", question.modes, "by which layers the modes of a cell's messages differ");
	CLI::Option *worst =
		app.add_flag("--worst", question.worst, "each cell's slowest message with a complete path, step by step");
	CLI::Option *message =
		add(app, "--message", commands.message, value_name::kMessage,
			"this message, step by step; with :back its answer. Of a run of attach FROM_TID:SEND_NS, "
			"as export has them");
	CLI::Option *stacks =
		app.add_flag("--stacks", question.stacks, "in which functions each layer's time goes, of a run with --stacks");
	for (CLI::Option *one : {against, tail, modes, worst, message})
		for (CLI::Option *other : {against, tail, modes, worst, message, stacks})
			if (one != other && !(one == against && other == stacks)) // functions of both cells
				one->excludes(other);
	app.add_flag("--json", question.json, "as JSON")->excludes(modes)->excludes(stacks);
	app.add_flag("-v,--verbose", question.verbose,
				 "the tables of every cell, instead of a summary of all, with all that took time");
}

void add_compare(CLI::App &app, Commands &commands)
{
	report::CompareWishes &wishes = commands.compare.wishes;
	app.footer(
		"Says of each figure of each cell whether it is slower, faster or the same, or how long a run would tell, "
		"and where the difference is. Arms of one run are compared by rounds that measured both; two runs only "
		"roughly, by ratios to another cell.");
	add_run_directory(app, wishes.run);
	add(app, "OTHER", wishes.other, value_name::kRun, "run directory to compare with RUN, instead of arms");
	CLI::Option *arms = add(app, "--arms", commands.compared_arms, value_name::kArm,
							"arms to compare, the first with each of the others")
							->allow_extra_args(false)
							->default_str("all but the control");
	add(app, "--delta", commands.delta, value_name::kShare, "difference that counts as none, 0.1% to 50%")
		->capture_default_str();
	CLI::Option *repeats =
		add(app, "--repeats", commands.repeats, value_name::kRun,
			"two or more runs of the same as RUN on this machine, which tell how far such runs differ")
			->allow_extra_args(false)
			->excludes(arms);
	CLI::Option *anchor = add(app, "--anchor", wishes.anchor, value_name::kText,
							  "cell of both runs that doesn't depend on what is compared, by its title")
							  ->excludes(arms)
							  ->default_str("a transport of the kernel's of the same load");
	app.get_option("OTHER")->excludes(arms);
	for (CLI::Option *one : {repeats, anchor})
		one->needs(app.get_option("OTHER"));
	CLI::Option *json = app.add_flag("--json", commands.compare_json, "as JSON");
	app.add_flag("--markdown", commands.compare_markdown, "as Markdown, for a comment")->excludes(json);
}

constexpr const char *kKindHelp = "what a flame graph is of; all but path take a run with --stacks";

void add_report(CLI::App &app, ReportOptions &report)
{
	app.footer(
		"Needs only the run directory, on any machine, without root. An interrupted or killed run is reported as "
		"far as it got.");
	add_run_directory(app, report.run);
	app.add_flag("-v,--verbose", report.verbose, "all that is known: layers in us, every notice, noise, probes");
	CLI::Option *json = app.add_flag("--json", report.json, "print run.json to stdout");
	CLI::Option *html = app.add_flag("--html", report.html, "write report.html into the run directory")->excludes(json);
	add_gates(app, report.gates);
	for (const char *one : {"--gate", "--expect"})
		app.get_option(one)->excludes(json)->excludes(html);
}

void add_flamegraph(CLI::App &app, Commands &commands)
{
	FlamegraphOptions &flamegraph = commands.flamegraph;
	app.footer("Writes latency.svg and latency.folded: cell, layer, part, thread and role; of a run with --stacks also "
			   "functions. Other kinds show by threads what they do.");
	add_run_directory(app, flamegraph.run);
	add(app, "-o,--output", flamegraph.output, value_name::kFileOrFolder,
		"folder for the files, or a file: NAME.svg, NAME.folded")
		->default_str("the run directory");
	add(app, "--cell", flamegraph.wishes.cell, value_name::kText, kCellHelp)->default_str("every cell");
	add(app, "--kind", commands.flame_kind, one_of(analysis::kFlameKindNames), kKindHelp)->capture_default_str();
	app.add_flag("--tail", flamegraph.wishes.tail, "only the slowest 1 % of each cell's messages");
	add(app, "--diff", flamegraph.wishes.other, value_name::kRun, "run directory to compare with");
	app.add_flag("--folded", flamegraph.folded_only, "print folded stacks, write nothing");
}

void add_export(CLI::App &app, Commands &commands)
{
	app.footer("Writes files and prints their names.");
	add_run_directory(app, commands.exported.run);
	add(app, "-f,--format", commands.formats, one_of(exports::kExportFormatNames), "formats to write")
		->allow_extra_args(false) // the next word may be RUN
		->capture_default_str();
	add(app, "--kind", commands.exported_kind, one_of(analysis::kFlameKindNames),
		fmt::format("of speedscope and firefox: {}", kKindHelp))
		->capture_default_str();
	add(app, "--gate", commands.exported.gates.files, value_name::kFile,
		"of junit and markdown: file of gates, as of run; repeatable")
		->allow_extra_args(false);
	add(app, "--expect", commands.exported.gates.expectations, value_name::kExpectation,
		"of junit and markdown: as of run; repeatable")
		->allow_extra_args(false);
	add(app, "-o,--output", commands.exported.output, value_name::kFolder, "folder for the files")
		->default_str("the run directory");
}

void add_calibrate(CLI::App &app, CalibrateOptions &calibrate)
{
	app.footer("For kernels whose functions can't be probed: icepath run --calibration takes the file.");
	add(app, "-o,--output", calibrate.output, value_name::kFile, "file to write")->capture_default_str();
	add(app, "--cpu", calibrate.cpu, value_name::kCpu, "CPU to run on")->default_str("a run's receiver's");
}

void add_doctor(CLI::App &app, Commands &commands)
{
	DoctorOptions &doctor = commands.doctor;
	app.footer("Tries every probe, the hardware counters and the clock, finds what isn't isolated, and says what the "
			   "machine is fit for. Exits with 3 if it can't do a breakdown.");
	app.add_flag("-v,--verbose", doctor.verbose, "everything that was tried, with effects and remedies");
	app.add_flag("--json", doctor.json, "as JSON");
	add_tier(app, commands.doctor_tier);
	app.add_flag("--restore", doctor.restore,
				 "only undo what a killed run with --isolate full or --tune has changed; as root");
	CLI::Option *noise = app.add_flag("--noise", doctor.noise,
									  "only measure what takes time from a thread that spins on the CPUs; as root");
	add_duration(app, commands.doctor_duration, "time to measure noise");
	app.get_option("--duration")->needs(noise);
	add(app, "--cpus", doctor.cpus, value_name::kCpus, "CPU,CPU[,MORE...]: where to measure noise")
		->needs(noise)
		->default_str("a run's");
	add(app, "--isolate", commands.doctor_isolate,
		fmt::format("{{{},{}}}", cpuset::kLevelNames[static_cast<size_t>(cpuset::Level::None)],
					cpuset::kLevelNames[static_cast<size_t>(cpuset::Level::Full)]),
		"with full, noise is measured before and after isolating the CPUs")
		->needs(noise)
		->capture_default_str();
}

void add_setup(CLI::App &app, SetupOptions &setup)
{
	app.footer("Without options it changes nothing and needs no root.");
	CLI::Option *caps =
		app.add_flag("--caps", setup.caps, "give capabilities to icepath-helper, for the members of a group; as root");
	add(app, "--group", setup.group, value_name::kGroup, "group whose members may measure; it must exist")
		->capture_default_str();
	app.add_flag("--undo", setup.undo, "make icepath-helper what it was before --caps")->needs(caps);
}

} // namespace

void add_commands(CLI::App &app, Commands &commands)
{
	add_run(*app.add_subcommand("run", "benchmark, break down, report; needs root, or icepath setup"), commands.run,
			commands.texts);
	add_attach(*app.add_subcommand("attach", "break down what running programs exchange; needs root"), commands);
	add_report(*app.add_subcommand("report", "print a run's report again"), commands.report);
	add_explain(*app.add_subcommand("explain", "why a run's slowest messages are slow, or a cell slower than another"),
				commands);
	add_compare(*app.add_subcommand("compare", "whether one arm of a run, or one run, is slower than another"),
				commands);
	add_flamegraph(
		*app.add_subcommand("flamegraph", "a run's latency, or its threads, as an interactive SVG and folded stacks"),
		commands);
	add_export(*app.add_subcommand("export", "a run's latencies for other tools"), commands);
	add_doctor(*app.add_subcommand("doctor", "try what this machine can do"), commands);
	CLI::App *list = app.add_subcommand("list", "transports, middleware, and what they support");
	list->footer("What can't be measured here follows, with the reason, and what this icepath was built without.");
	list->add_flag("--json", commands.list.json, "as JSON");
	add_selftest(
		*app.add_subcommand("selftest", "check that delays injected into known layers are found there; needs root"),
		commands);
	add_calibrate(
		*app.add_subcommand(
			"calibrate", "find when, within its calls, a queue holds a message, by hardware watchpoints; needs root"),
		commands.calibrate);
	add_setup(*app.add_subcommand("setup",
								  "let a group measure without root, or say what that would change and who may "
								  "then do what"),
			  commands.setup);
	CLI::App *gen = app.add_subcommand("gen", "print man pages, completion or docs/options.md, for the build");
	gen->group(""); // not in the help
	gen->add_option("WHAT", commands.page.what)->required();
	gen->add_option("COMMAND", commands.page.of_command);
}

} // namespace icepath::cli
