// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line's outputs, made from a run directory as text. All functions throw Failure.
#include <string>
#include <vector>

#include "profiler/report/terminal.h"
#include "profiler/report/written_file.h"

namespace icepath::report {

struct Report {
	std::string text;
	std::vector<std::string> flaws; // why it isn't valid: see notices.h
};

Report report_of(const std::string &run, const Style &style);

// Why the slowest messages of cells are slow: tail.h. `only`: a part of a cell's title. Throws Failure(Usage) if no cell
// that was measured has it.
std::string tails_of(const std::string &run, const std::string &only, const Style &style);

// Writes run.json into the run directory first.
Report report_and_write(const std::string &run, const Style &style);

// Writes latency.folded and latency.svg into `directory`, or into the run directory if that is empty. Returns the SVG's
// path.
std::string write_flamegraph(const std::string &run, const std::string &directory,
							 const OpenFolder &open = made_folder);

std::string json_of(const std::string &run); // content of run.json
std::string folded_of(const std::string &run);

} // namespace icepath::report
