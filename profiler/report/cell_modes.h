// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell whose messages have several modes (stats/modes.h): one p50 describes none of them, and falls into whichever had
// more messages in this run. So each mode has its own p50, share and layers.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/stats/modes.h"

namespace icepath::report {

// Latencies of a cell's blocks, with or without probes, in the order of measuring.
struct BlocksOfMessages {
	const std::vector<std::vector<uint64_t>> &latency;
	const std::vector<uint32_t> &opening, &round; // of each block
};

// `by_flow`: the latencies of the unprobed blocks by flow and block. The modes are those of unprobed messages; layers are
// still empty. Empty if there are fewer than two modes.
std::vector<CellMode> find_modes(const std::vector<stats::BlockFlowValues> &by_flow, const BlocksOfMessages &unprobed,
								 const BlocksOfMessages &probed, bool by_opening);

// Where a cell's p50 lies: in one mode, or, as far as the run tells, in one of several.
struct ModesOfP50 {
	size_t first = 0, last = 0; // indices
	bool one() const { return first == last; }
};
std::optional<ModesOfP50> modes_of_p50(const CellResult &cell); // nothing without modes or without a p50

// Whether another run may have its p50 in another mode: a p50 isn't shown then.
bool lies_between_modes(const CellResult &cell);

// "the p50 lies in mode 1", "the p50 lies between modes 1 and 2"; empty without modes or without a p50.
std::string p50_text(const CellResult &cell);
// What probes change of the shares, and which modes aren't seen with them; empty if neither.
std::string probes_text(const CellResult &cell);

// "2 modes: 7.12 ±0.20 µs (54.0 ±9.1 % of messages) and 16.5 ±0.3 µs (46.0 ±9.1 %); the p50 lies in mode 1": needs modes.
std::string modes_sentence(const CellResult &cell);

// "54.0 ±9.1 %", "54.0 %", and in fewer digits "54 ±9 %".
std::string share_text(const stats::Share &share);
std::string brief_share_text(const stats::Share &share);

} // namespace icepath::report
