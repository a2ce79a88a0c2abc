// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as text, a pure function of result and style: `icepath report` prints what `icepath run` printed.
#include <string>

#include "profiler/analysis/run_result.h"
#include "profiler/text/page.h"

namespace icepath::text {

struct Style {
	bool colour = false; // set by the caller, which knows the terminal
	bool unicode = false; // false: ASCII only
	int width = 100; // columns; tables that can't be narrower exceed it
	bool verbose = false; // all that is known, instead of what fits one screen
};

std::string terminal_report(const analysis::RunResult &result, const Style &style);

// The lines below the table: how often fresh processes measured the cells, and what state of the machine affects
// latencies.
void add_run_state(Page &page, const analysis::RunResult &result);

} // namespace icepath::text
