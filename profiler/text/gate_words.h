// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of what gates find (gate/judge.h), for the terminal and for files that continuous integration reads.
#include <string>

#include "profiler/gate/judge.h"

namespace icepath::text {

// "52.1 (51.0..53.4) µs", "12 messages", "0.93 (0.91..0.95)".
std::string figure_text(const gate::Expectation &expected, const gate::Measured &measured);

// "52.1 (51.0..53.4) µs", with the reason where it is neither met nor missed: "… : the interval contains the limit".
std::string outcome_text(const gate::Judgement &judgement, const gate::Outcome &outcome);

// The key of the outcome's cell, or the patterns that match none.
std::string place_text(const gate::Judgement &judgement, const gate::Outcome &outcome);

// "4 met, 1 missed, 1 undecided"
std::string counts_text(const gate::Judgement &judgement);

} // namespace icepath::text
