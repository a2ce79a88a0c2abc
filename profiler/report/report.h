// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the command line asks for, each from a run directory, as text for whoever prints it. All throw Failure.
#include <string>
#include <vector>

#include "profiler/report/terminal.h"
#include "profiler/report/written_file.h"

namespace icepath::report {

struct Report {
	std::string text;
	std::vector<std::string> flaws; // what keeps it from being valid: notices.h
};

Report report_of(const std::string &run, const Style &style);

// The same, after writing run.json into the run directory.
Report report_and_write(const std::string &run, const Style &style);

// Writes latency.folded and latency.svg into `directory`, the run directory where it is empty. Returns the SVG's path.
std::string write_flamegraph(const std::string &run, const std::string &directory,
							 const OpenFolder &open = made_folder);

std::string json_of(const std::string &run); // what run.json holds
std::string folded_of(const std::string &run);

} // namespace icepath::report
