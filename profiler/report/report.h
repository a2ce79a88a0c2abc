// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the command line asks for, each from a run directory. All throw Failure.
#include <string>
#include <vector>

#include "profiler/report/terminal.h"

namespace icepath::report {

// Prints the report to stdout. False: not everything that was planned was measured, or something was lost (notices.h).
bool print(const std::string &run, const Style &style);

// The same, after writing run.json into the run directory. `flaws`, where given, gets why it is false: notices.h.
bool write_and_print(const std::string &run, const Style &style, std::vector<std::string> *flaws = nullptr);

// Writes latency.folded and latency.svg into `directory`, the run directory where it is empty. Returns the SVG's path.
std::string write_flamegraph(const std::string &run, const std::string &directory);

// Folded stacks to stdout.
void print_folded(const std::string &run);

} // namespace icepath::report
