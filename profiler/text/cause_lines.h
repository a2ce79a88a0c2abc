// SPDX-License-Identifier: Apache-2.0
#pragma once
// What took the time of a difference, and what would help.
#include <vector>

#include "profiler/explain/growth_causes.h"
#include "profiler/text/page.h"
#include "profiler/text/remedy_words.h"

namespace icepath::text {

struct CauseHeads {
	const char *a, *b, *growth; // of both shares, and of the difference
	const char *all_by = ""; // ": " and the command that shows all
};
// A table of what took most, and of what is told to take something; nothing if nothing did. `all`: of all.
void add_causes(Page &page, const std::vector<explain::Cause> &causes, const CauseHeads &heads,
				analysis::Code code = analysis::Code::OfSides, bool all = false);

// What to do next. Commands aren't wrapped, so that they can be pasted.
void add_next(Page &page, const std::vector<Step> &steps);

} // namespace icepath::text
