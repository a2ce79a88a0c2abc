// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of watched programs for a terminal: who talks to whom, how long that takes, where the time goes, what the
// slowest hundredth has more of, and how far to trust it.
#include <string>

#include "profiler/analysis/links.h"
#include "profiler/text/terminal.h"

namespace icepath::text {

std::string attached_report(const analysis::AttachedResult &result, const Style &style);

// "waiting for a CPU", "blocked for storage": a place in plain words, without its program.
std::string words_of(const analysis::Place &place);

} // namespace icepath::text
