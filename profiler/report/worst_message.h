// SPDX-License-Identifier: Apache-2.0
#pragma once
// Explains one message: its path as a table that adds up to its latency, in time and in percent.
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/layer_style.h"

namespace icepath::report {

// Lines without line ends, in UTF-8; only the layers' symbols depend on `look`. The last line names the largest share.
std::vector<std::string> explain(const WorstMessage &worst, const model::Cell &cell, const Look &look);

// What most of its time is: "queue/preempted", "CPU 1 ran kworker/1:2 (4711)", 0.99.
struct MostOfMessage {
	std::string layer, who; // who: empty if nothing is to blame
	double share = 0;
};
MostOfMessage most_of(const WorstMessage &worst);

// "CPU 1 ran kworker/1:2", "woken by initiator", "timer interrupt"; empty if nothing is to blame.
std::string blame(const WorstMessage &worst, const path::Segment &segment);

} // namespace icepath::report
