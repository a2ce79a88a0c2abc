// SPDX-License-Identifier: Apache-2.0
#pragma once
// What running programs ask each other, one by one: text/attached_lines.h has all of it together.
#include <string>

#include "profiler/analysis/link_ranges.h"
#include "profiler/text/page.h"

namespace icepath::text {

std::string title_of(const analysis::LinkRanges &link); // "web ↔ shop unix-stream"
const char *things_of(const analysis::LinkRanges &link); // "requests", "messages"

// A section: the path of a request or a message beside the typical ones of its link, if it is one of these.
void add_exchange(Page &page, const analysis::AttachedResult &run, const analysis::LinkRanges &link,
				  const analysis::Exchange &what, const analysis::WorstMessage &message);

} // namespace icepath::text
