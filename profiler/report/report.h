// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line's outputs, made from a run directory as text. All functions throw Failure.
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/flamegraph.h"
#include "profiler/analysis/followed_messages.h"
#include "profiler/exports/written_file.h"
#include "profiler/failure.h"
#include "profiler/gate/gate_file.h"
#include "profiler/text/terminal.h"

namespace icepath::report {

struct Report {
	std::string text;
	std::vector<std::string> flaws; // why it isn't valid: see notices.h
	ExitCode of_gates = ExitCode::Ok; // see judge.h
};

// With what the gates find, if there are any. Throws Failure(Usage) if they are about something else than cells of one
// run.
Report report_of(const std::string &run, const text::Style &style, const std::vector<gate::Gate> &gates = {});

// What `icepath explain` is asked.
struct Question {
	// As named_cells.h takes it; of an attached run words, each the name of a program or of a kind of stream. Empty:
	// every one.
	std::string cell = {};
	std::string against = {}; // why `cell` is slower than this one: against.h
	stats::Percentile tail = stats::kP99; // why these messages are slow: tail.h
	bool modes = false; // by which layers they differ: mode_difference.h
	bool stacks = false; // in which functions each layer's time goes: function_lines.h
	bool worst = false; // each cell's slowest message with a complete path: one_message.h
	std::optional<analysis::MessageName> message = {}; // this one: likewise
	bool verbose = false; // the tables of every cell, instead of a summary of all
	bool json = false; // explain_json.h
};

struct Explanation {
	std::string text;
	bool refused = false; // the run can't answer it, and the text says why
};

// Throws Failure(Usage) if no cell or no message is what the question names, and Failure(Invalid) if the run lacks what
// the question is about: probes, sampled functions, or complete paths.
Explanation explanation_of(const std::string &run, const Question &question, const text::Style &style);

// Writes run.json and report.html into the run directory first.
Report report_and_write(const std::string &run, const text::Style &style, const std::vector<gate::Gate> &gates = {});

// Writes report.html into the run directory, and returns its path.
std::string write_html(const std::string &run);

struct FlameWishes {
	analysis::FlameKind kind = analysis::FlameKind::Path;
	std::string cell = {}; // as named_cells.h takes it; empty: every cell
	bool tail = false; // only the slowest messages; of Path
	std::string other = {}; // a run to compare with; empty: none
};

// Writes folded stacks and an SVG (kFlameFileNames) into the folder, or into the run directory if that is empty, and
// returns the SVG's path; or writes one of them only, if `place` has such a file. Throws Failure(Usage) if nothing is
// left to show.
std::string write_flamegraph(const std::string &run, const FlameWishes &wishes, const exports::OutputPlace &place,
							 const exports::OpenFolder &open = exports::made_folder);
// What -o names for flame graphs, and for files that have names of their own.
exports::OutputPlace place_of_flames(const std::string &output);
exports::OutputPlace place_of_files(const std::string &output);

std::string json_of(const std::string &run); // content of run.json
std::string folded_of(const std::string &run, const FlameWishes &wishes);

} // namespace icepath::report
