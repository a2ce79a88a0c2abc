// SPDX-License-Identifier: Apache-2.0
#pragma once
// One function for each command. Results go to stdout, progress and diagnostics to stderr. All throw Failure.
#include <cstdint>

#include "profiler/cli/options.h"
#include "profiler/cli/report_command.h"
#include "profiler/failure.h"
#include "profiler/model/run.h"

namespace icepath::cli {

// What the terminal can display.
struct Style {
	bool colour = false; // never with NO_COLOR or TERM=dumb, or if stdout is no terminal
	bool unicode = false; // a UTF-8 locale
	bool line_control = false; // stderr is a terminal that can overwrite a line: not TERM=dumb
	int width = 100;
};
Style style_of_terminal(bool no_colour);

constexpr const char *kResults = "results"; // where runs without -o are, in the current directory
std::string default_directory(const std::string &name); // results/<time>-<name>

// What a run's file begins with; the caller adds what it knows of isolation.
model::Head head_of(const std::string &command_line, const model::Host &host);

ExitCode run(const RunOptions &options, const std::string &command_line, uint64_t started_ns, const Style &style);
ExitCode attach(const AttachOptions &options, const std::string &command_line, const Style &style);
ExitCode report(const ReportOptions &options, const Style &style);
ExitCode explain(const ExplainOptions &options, const Style &style);
ExitCode compare(const CompareOptions &options, const Style &style);
ExitCode flamegraph(const FlamegraphOptions &options, const Style &style, const Output &output);
ExitCode export_files(const ExportOptions &options, const Style &style, const Output &output);
ExitCode calibrate(const CalibrateOptions &options);
ExitCode selftest(const SelftestOptions &options, const std::string &command_line, uint64_t started_ns,
				  const Style &style);
ExitCode doctor(const DoctorOptions &options, const Style &style);
ExitCode setup(const SetupOptions &options);
ExitCode list(const ListOptions &options);

} // namespace icepath::cli
