// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reader of the report must know before believing it.
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"

namespace icepath::report {

struct Notices {
	std::vector<std::string> of_run; // one sentence each: those that the run itself wrote, and about the run as a whole
	struct Kind {
		std::string what; // "lost messages"
		std::vector<std::string> cells; // a sentence for each cell that it is true of
	};
	std::vector<Kind> of_cells;

	std::vector<std::string> all() const;
	std::vector<std::string> brief() const; // what many cells share is one sentence with the first of them
};
Notices notices(const RunResult &result);

// Why there is less than was planned, in one sentence; empty where the run came to its end.
std::string unfinished(const RunResult &result);

// What --strict doesn't allow, summed up over the cells: what was planned and not measured, and what was lost that
// shouldn't be. Messages without a breakdown aren't among it.
std::vector<std::string> flaws(const RunResult &result);
bool valid(const RunResult &result); // without flaws

} // namespace icepath::report
