// SPDX-License-Identifier: Apache-2.0
#pragma once
// What took the time of a difference, and what would help.
#include <vector>

#include "profiler/explain/growth_causes.h"
#include "profiler/text/page.h"
#include "profiler/text/remedy_words.h"

namespace icepath::text {

// A table of what took most; nothing if nothing did. `of_a`, `of_b`: headings of both shares.
void add_causes(Page &page, const std::vector<explain::Cause> &causes, const char *of_a, const char *of_b,
				analysis::Code code = analysis::Code::OfSides);

// What to do next. Commands aren't wrapped, so that they can be pasted.
void add_next(Page &page, const std::vector<Step> &steps);

} // namespace icepath::text
