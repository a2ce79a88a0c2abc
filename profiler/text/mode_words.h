// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is said of a cell whose messages have several modes.
#include <string>

#include "profiler/analysis/cell_result.h"

namespace icepath::text {

// "4.37 ±0.10"; of several modes "*4.37 ±0.10", or "–" where another run may have it in another one.
std::string whole_p50_text(const analysis::CellResult &cell);

// "the p50 lies in mode 1", "the p50 lies between modes 1 and 2"; empty without modes or without a p50.
std::string p50_text(const analysis::CellResult &cell);

// What probes change of the shares, and which modes aren't seen with them; empty if neither.
std::string probes_text(const analysis::CellResult &cell);

// "2 modes: 7.12 ±0.20 µs (54.0 ±9.1 % of messages) and 16.5 ±0.3 µs (46.0 ±9.1 %); the p50 lies in mode 1": needs
// modes.
std::string modes_sentence(const analysis::CellResult &cell);

// "54.0 ±9.1 %", "54.0 %", and in fewer digits "54 ±9 %".
std::string share_text(const stats::Share &share);
std::string brief_share_text(const stats::Share &share); // without decimals, and ±1 at least

} // namespace icepath::text
