// SPDX-License-Identifier: Apache-2.0
#pragma once
// report.html: the report as one page that needs nothing else, neither files nor a network.
#include <string>

#include "profiler/analysis/run_result.h"

namespace icepath::pages {

// What it says, its first picture and its tables are there without scripts; browser/html_report.js adds the flame
// graph, choosing of cells, and search.
std::string html_report(const analysis::RunResult &result);

} // namespace icepath::pages
