// SPDX-License-Identifier: Apache-2.0
#pragma once
// One message as a table that adds up to its latency, in time and in percent.
#include <string>
#include <vector>

#include "profiler/explain/one_message.h"
#include "profiler/text/page.h"

namespace icepath::text {

// Lines without line ends, of which the first is the heading; the last names the largest share.
std::vector<std::string> worst_message_lines(const analysis::WorstMessage &worst, const model::Cell &cell,
											 const Look &look);

// The path beside the mean of those of `typical` (nullptr: there are none), which are so many `things`. Or why it has
// none.
void add_path(Page &page, const analysis::WorstMessage &message, const analysis::LatencyRange *typical,
			  analysis::Code code, const char *things = "messages");
// A section: the path beside the typical ones of its cell.
void add_message(Page &page, const analysis::WorstMessage &message, const analysis::CellResult &cell);

} // namespace icepath::text
