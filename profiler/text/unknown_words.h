// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of messages without a known path (explain/unknown_paths.h).
#include <string>

#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/latency_ranges.h"

namespace icepath::text {

// "31 of 16 000 messages with probes have no known path. They take 3.32 ms each, 24.5 % of the time". Empty where they
// are less than a hundredth of the messages and of their time.
std::string without_path_text(const analysis::CellResult &cell);

// How many of the range's messages are explained: "11 280", or "9 000 of 11 280" if they aren't nearly all.
std::string known_text(const analysis::LatencyRange &range);

} // namespace icepath::text
