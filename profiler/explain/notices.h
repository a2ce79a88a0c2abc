// SPDX-License-Identifier: Apache-2.0
#pragma once
// What to know before trusting the report.
#include <string>
#include <vector>

#include "profiler/analysis/aggregate.h"

namespace icepath::explain {

// Begins a notice that every run of plain root has.
inline constexpr const char *kStartedByRoot = "started by root itself: workers and files are root's";

struct Notices {
	std::vector<std::string> recorded; // by the run, one sentence each
	std::vector<std::string> of_run; // about the whole run
	struct Kind {
		std::string what; // "lost messages"
		std::vector<std::string> cells; // a sentence for each cell that it applies to
	};
	std::vector<Kind> of_cells;

	std::vector<std::string> all() const;
	// What a report on one screen says: the last that the run recorded, and what cells have that neither the table
	// shows nor `doubts()` sums up (trust.h). A notice that many cells share is one sentence. The rest is only counted.
	std::vector<std::string> brief() const;
};
Notices notices(const analysis::RunResult &result);

// Why there is less than was planned, in one sentence; empty if the run is complete.
std::string unfinished(const analysis::RunResult &result);

// What --strict rejects, summed over the cells: what was planned but not measured, and what was lost and shouldn't be.
// Messages without a breakdown aren't flaws.
std::vector<std::string> flaws(const analysis::RunResult &result);
bool valid(const analysis::RunResult &result); // without flaws

} // namespace icepath::explain
