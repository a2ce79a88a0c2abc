// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the command line's options are parsed into, before options.h has their checked values.
#include <string>
#include <vector>

#include "profiler/cli/factor_options.h"
#include "profiler/cli/options.h"

namespace icepath::cli {

struct RunTexts {
	std::vector<std::string> sizes, patterns, qos, tunings, arms,
		waits = {std::string(model::name(model::Wait::Block))},
		between = {std::string(model::name(model::Between::Processes))};
	FactorTexts factors;
	std::string duration = "60", max_loss = "0", max_p99 = "1ms", sparse_period = "200ms", isolate = "soft", tier;
	int64_t messages = 1000;
	bool no_control = false;
};

// Of the hidden command gen.
struct PageWish {
	std::string what; // page, or completion of a shell
	std::string of_command; // of a man page; empty: icepath(1)
};

// The options of all commands, while CLI11 parses.
struct Commands {
	RunOptions run;
	RunTexts texts;
	AttachOptions attach;
	std::vector<std::string> attach_processes;
	std::string attach_duration;
	ReportOptions report;
	ExplainOptions explain;
	std::string tail = "99", message; // of explain
	CompareOptions compare;
	std::vector<std::string> compared_arms, repeats;
	std::string delta = "3%";
	bool compare_json = false, compare_markdown = false;
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
	PageWish page;
};

// Defines all commands. `commands` must live until `app` has parsed.
void add_commands(CLI::App &app, Commands &commands);

} // namespace icepath::cli
