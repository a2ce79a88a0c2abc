// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parsed command line. Only this folder uses CLI11.
#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>

#include "cpuset/step.h"
#include "profiler/analysis/flamegraph.h"
#include "profiler/capture/probes.h"
#include "profiler/cli/gate_options.h"
#include "profiler/exports/export.h"
#include "profiler/isolation/tune.h"
#include "profiler/model/arm.h"
#include "profiler/plan/plan.h"
#include "profiler/report/compared.h"
#include "profiler/report/report.h"

namespace icepath::cli {

struct RunOptions {
	plan::Wishes wishes;
	std::string cpus; // empty: choose
	std::string daemon_cpus; // of middleware's daemons; empty: where icepath runs
	double duration_s = 60;
	uint32_t messages = 1000;
	std::string output; // empty: results/<time>-<name>
	std::string name = "run";
	std::optional<capture::Tier> tier; // of probes, forced
	std::string calibration; // file; empty: none
	cpuset::Level isolate = cpuset::Level::Soft;
	std::vector<isolation::Tuning> tunings;
	std::vector<model::Arm> arms; // with the control; their paths aren't looked up yet
	bool stacks = false; // sample functions in some rounds
	bool idle_states = false; // keep the machine's own idle states
	bool frees_library_threads = false; // from the CPU of their side
	bool strict = false;
	GateOptions gates;
	bool quiet = false;
};

struct AttachOptions {
	// One of the three is given, or one of the first two and a command.
	std::vector<pid_t> processes;
	std::string name; // of processes, a pattern
	std::vector<std::string> command;
	double duration_s = 0; // 0: until it is interrupted or the programs end
	bool live = false; // the report each second, on a terminal
	std::string output; // empty: results/<time>-attach
	bool quiet = false;
};

struct ReportOptions {
	std::string run;
	bool verbose = false;
	bool json = false; // run.json to stdout
	bool html = false; // write report.html
	GateOptions gates;
};

struct ExplainOptions {
	std::string run;
	report::Question question;
};

struct CompareOptions {
	report::CompareWishes wishes;
};

struct FlamegraphOptions {
	std::string run;
	report::FlameWishes wishes;
	std::string output; // empty: into the run directory
	bool folded_only = false; // folded stacks to stdout
};

struct ExportOptions {
	std::string run;
	std::vector<exports::ExportFormat> formats;
	analysis::FlameKind kind = analysis::FlameKind::Path;
	GateOptions gates; // of junit and markdown
	std::string output; // empty: into the run directory
};

struct CalibrateOptions {
	std::string output = "calibration.json";
	std::optional<uint32_t> cpu; // none: choose
};

struct SelftestOptions {
	std::vector<std::string> only; // injections; empty: all
	double duration_s = 60;
	std::optional<capture::Tier> tier;
	std::string json; // file; empty: none
	std::string output; // run directory to keep; empty: none is kept
	std::string cpus; // empty: choose
	int stretch = 1; // factor of all delays
	bool quiet = false;
};

struct DoctorOptions {
	bool json = false;
	bool verbose = false; // every check
	bool restore = false; // nothing else is done then
	bool noise = false; // only measures how quiet the CPUs are
	double duration_s = 5; // of noise, for each level of isolation
	std::string cpus; // of noise; empty: choose
	cpuset::Level isolate = cpuset::Level::None; // of noise: None, or Full for before and after
	std::optional<capture::Tier> tier;
};

struct SetupOptions {
	bool caps = false; // otherwise it only says what that would do
	bool undo = false;
	std::string group = "icepath";
};

struct ListOptions {
	bool json = false;
};

using Command =
	std::variant<RunOptions, AttachOptions, ReportOptions, ExplainOptions, CompareOptions, FlamegraphOptions,
				 ExportOptions, CalibrateOptions, SelftestOptions, DoctorOptions, SetupOptions, ListOptions>;

struct CommandLine {
	Command command;
	bool no_colour = false;
	std::string text; // as typed, for the run's head
};

// Throws Failure(Usage). Nothing: help, the version or a page was asked for, and has been printed.
std::optional<CommandLine> parse(int argc, char **argv);

} // namespace icepath::cli
