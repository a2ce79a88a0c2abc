// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as text. A pure function of the result and the style: `icepath report` prints what `icepath run` printed.
#include <string>

#include "profiler/report/aggregate.h"

namespace icepath::report {

struct Style {
	bool colour = false;  // the caller knows whether this is a terminal that wants it
	bool unicode = false; // else ASCII only
	int width = 100;      // columns; tables that can't be narrower pass it
	bool verbose = false; // with what the noise does and what mends it, each probe on its line, and every notice
};

std::string terminal_report(const RunResult &result, const Style &style);

} // namespace icepath::report
