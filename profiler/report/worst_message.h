// SPDX-License-Identifier: Apache-2.0
#pragma once
// One message explained: its path as a table that adds up to its latency, in nanoseconds and in percent.
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/layer_bar.h"

namespace icepath::report {

// Lines without line ends, in UTF-8; only layer symbols follow `look`. The last one says what most of the time was.
std::vector<std::string> explain(const WorstMessage &worst, const model::Cell &cell, const Look &look);

// "CPU 1 ran kworker/1:2", "woken by initiator", "timer interrupt"; empty where nobody is to blame.
std::string blame(const WorstMessage &worst, const path::Segment &segment);

} // namespace icepath::report
