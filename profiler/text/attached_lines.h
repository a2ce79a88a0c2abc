// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of watched programs for a terminal: who talks to whom, how long that takes, where the time goes, what the
// slowest hundredth has more of, and how far to trust it.
#include <string>

#include "profiler/analysis/links.h"
#include "profiler/text/terminal.h"

namespace icepath::text {

std::string attached_report(const analysis::AttachedResult &result, const Style &style);

struct LiveFigures {
	const analysis::AttachedResult &recent, &all; // the last windows; all until now
	uint64_t left_out = 0; // windows that were not resolved in time
};
// The same while it goes on: of the last windows, with percentiles of all beside it.
std::string live_report(const LiveFigures &figures, const Style &style);

// "waiting for a CPU", "blocked for storage": a place in plain words, without its program.
std::string words_of(const analysis::Place &place);

} // namespace icepath::text
