// SPDX-License-Identifier: Apache-2.0
#pragma once
// What gates find, below a report: how many expectations are met, then each that isn't, with its figure and its reason.
#include <string>

#include "profiler/gate/judge.h"
#include "profiler/text/terminal.h"

namespace icepath::text {

// With Style::verbose also those that are met.
std::string gate_lines(const gate::Judgement &judgement, const Style &style);

} // namespace icepath::text
