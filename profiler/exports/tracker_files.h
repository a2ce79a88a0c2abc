// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's figures for programs that follow benchmarks from commit to commit. What a cell doesn't have is left out, and
// so is what lost messages or failed blocks keep from being of all messages. Values have the intervals of reports.
// All are figures that gates know (gate/judge.h). All functions throw Failure(Invalid) if the run isn't whole.
#include <string>

#include "profiler/analysis/run_result.h"

namespace icepath::exports {

// github-action-benchmark's customSmallerIsBetter: [{name, unit, value, range, extra}]. A rate isn't in it.
std::string benchmark_action_json(const analysis::RunResult &result);

// Bencher Metric Format: {cell: {measure: {value, lower_value, upper_value}}}. A measure's name has at most 64 bytes.
std::string bencher_json(const analysis::RunResult &result);

// Otava's CSV: a head, and one row for the run. A figure that is missing is nan, as rows of a file have equal columns.
std::string otava_csv(const analysis::RunResult &result);

} // namespace icepath::exports
