// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiler/failure.h"

namespace icepath::cli {
namespace {

constexpr double kShortestRunS = 2, kLongestRunS = 86400;
constexpr uint64_t kLargestSize = 1ull << 30;

// "4096", "4k", "1MiB": k and M are powers of 1024, as fio has it.
uint64_t bytes_of(const std::string &text)
{
	size_t digits = 0;
	uint64_t number = 0;
	for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) && number < kLargestSize;
		 digits++)
		number = number * 10 + static_cast<uint64_t>(text[digits] - '0');
	std::string unit = text.substr(digits);
	if (unit.ends_with("iB"))
		unit.resize(unit.size() - 2);
	else if (unit.ends_with("B"))
		unit.resize(unit.size() - 1);
	const uint64_t factor = unit.empty() ? 1 : unit == "k" || unit == "K" ? 1024 : unit == "M" ? 1024 * 1024 : 0;
	if (digits == 0 || factor == 0 || number == 0 || number * factor > kLargestSize)
		throw Failure(ExitCode::Usage,
					  fmt::format("--sizes: \"{}\" is no size: give bytes from 1 to 1024M, as 64, 4k or 1M", text));
	return number * factor;
}

// "20us", "200us", "1ms", "500" (ns).
uint64_t nanoseconds_of(const std::string &option, const std::string &text)
{
	size_t end = 0;
	double number = -1;
	try {
		number = std::stod(text, &end);
	} catch (const std::exception &) {
	}
	const std::string unit = text.substr(end);
	const double factor = unit.empty() || unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 0;
	if (factor == 0 || !(number >= 0 && number * factor <= 1e9)) // not a number compares with nothing
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: \"{}\" is no time up to 1000ms: give it as 20us or 1ms", option, text));
	return static_cast<uint64_t>(number * factor);
}

template <typename Value>
std::vector<Value> words(const std::string &option, const std::vector<std::string> &texts,
						 const std::vector<std::pair<std::string, Value>> &known)
{
	std::vector<Value> values;
	for (const std::string &text : texts) {
		const size_t before = values.size();
		for (const auto &[word, value] : known)
			if (word == text)
				values.push_back(value);
		if (values.size() == before) {
			std::vector<std::string> names;
			for (const auto &[word, value] : known)
				names.push_back(word);
			throw Failure(ExitCode::Usage,
						  fmt::format("{}: \"{}\" isn't one of {}", option, text, fmt::join(names, ", ")));
		}
	}
	return values;
}

// What the options of `run` are collected in before they are checked.
struct RunTexts {
	std::vector<std::string> sizes, patterns = {"pingpong", "oneway"}, waits = {"block"};
	std::string sender_busy = "0", receiver_busy = "0";
	uint32_t messages = 0;
};

void add_run(CLI::App &app, RunOptions &run, RunTexts &texts)
{
	app.add_option("-t,--transports", run.wishes.targets, "transports to measure, or all (icepath list)")
		->delimiter(',');
	app.add_option("-s,--sizes", texts.sizes, "payload sizes: 64,4k,1M")->delimiter(',');
	app.add_option("--patterns", texts.patterns, "pingpong, oneway")->delimiter(',')->capture_default_str();
	app.add_option("-w,--wait", texts.waits, "how receivers wait: block, poll, epoll")
		->delimiter(',')
		->capture_default_str();
	app.add_option("--rate", run.wishes.rate_hz, "messages per second of oneway")->capture_default_str();
	app.add_option("-m,--messages", texts.messages, "counted messages per block and direction (1000)");
	app.add_option("-d,--duration", run.duration_s, "time for everything, in seconds")->capture_default_str();
	app.add_option("--cpus", run.cpus, "SENDER,RECEIVER: CPUs to pin the two sides to");
	app.add_option("-o,--output", run.output, "run directory to make (results/<time>-<name>)");
	app.add_option("--name", run.name, "name of the run directory")->capture_default_str();
	app.add_flag("--strict", run.strict, "exit with 4 where a cell failed or records were lost");
	app.add_flag("-q,--quiet", run.quiet, "no progress");
	app.add_option("--inject-sender", texts.sender_busy,
				   "busy work between `send` and the call, measured beside the same cell without it");
	app.add_option("--inject-receiver", texts.receiver_busy, "busy work of the receiver after each message, likewise");
}

void check(RunOptions &run, const RunTexts &texts)
{
	for (const std::string &size : texts.sizes)
		run.wishes.sizes.push_back(bytes_of(size));
	run.wishes.patterns = words<rundir::Pattern>(
		"--patterns", texts.patterns, {{"pingpong", rundir::Pattern::PingPong}, {"oneway", rundir::Pattern::OneWay}});
	run.wishes.waits = words<rundir::Wait>(
		"--wait", texts.waits,
		{{"block", rundir::Wait::Block}, {"poll", rundir::Wait::Poll}, {"epoll", rundir::Wait::Epoll}});
	run.wishes.injection.sender_user_ns = nanoseconds_of("--inject-sender", texts.sender_busy);
	run.wishes.injection.receiver_busy_ns = nanoseconds_of("--inject-receiver", texts.receiver_busy);
	if (!(run.duration_s >= kShortestRunS && run.duration_s <= kLongestRunS))
		throw Failure(ExitCode::Usage,
					  fmt::format("--duration: {} s is outside {} to {}", run.duration_s, kShortestRunS, kLongestRunS));
	if (!(run.wishes.rate_hz >= 1 && run.wishes.rate_hz <= 1e6))
		throw Failure(ExitCode::Usage,
					  fmt::format("--rate: {} is outside 1 to 1000000 messages per second", run.wishes.rate_hz));
	if (texts.messages > 1'000'000)
		throw Failure(ExitCode::Usage, "--messages: a block holds at most 1000000");
	if (texts.messages)
		run.messages = texts.messages;
	if (run.name.empty() || run.name.find('/') != std::string::npos)
		throw Failure(ExitCode::Usage, "--name: give a plain name, without '/'");
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
	RunOptions run;
	RunTexts texts;
	ReportOptions report;
	FlamegraphOptions flamegraph;
	DoctorOptions doctor;
	ListOptions list;
	add_run(*app.add_subcommand("run", "benchmark, break down, report; needs root"), run, texts);
	CLI::App *report_app = app.add_subcommand("report", "print a run's report again");
	report_app->add_option("RUN", report.run, "run directory")->required();
	CLI::App *flamegraph_app = app.add_subcommand("flamegraph", "a run's latency as folded stacks and SVG");
	flamegraph_app->add_option("RUN", flamegraph.run, "run directory")->required();
	flamegraph_app->add_option("-o,--output", flamegraph.output, "folder for the files (the run directory)");
	flamegraph_app->add_flag("--folded", flamegraph.folded_only, "print folded stacks, write nothing");
	app.add_subcommand("doctor", "what this machine can do, by trying")->add_flag("--json", doctor.json, "as JSON");
	app.add_subcommand("list", "transports and what they support")->add_flag("--json", list.json, "as JSON");
	try {
		app.parse(argc, argv);
	} catch (const CLI::Success &help) {
		app.exit(help);
		return std::nullopt;
	} catch (const CLI::ParseError &error) {
		// CLI11 takes an unknown command for a missing one.
		if (dynamic_cast<const CLI::RequiredError *>(&error) && app.get_subcommands().empty() && argc > 1)
			throw Failure(ExitCode::Usage, fmt::format("\"{}\" is no command: icepath --help lists them", argv[1]));
		throw Failure(ExitCode::Usage, fmt::format("{} (icepath --help lists commands and options)", error.what()));
	}
	if (app.got_subcommand("run")) {
		check(run, texts);
		line.command = run;
	} else if (app.got_subcommand("report")) {
		line.command = report;
	} else if (app.got_subcommand("flamegraph")) {
		line.command = flamegraph;
	} else if (app.got_subcommand("doctor")) {
		line.command = doctor;
	} else {
		line.command = list;
	}
	return line;
}

} // namespace icepath::cli
