// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages without a known path, which explanations leave out: how many they are, and how much of the time they take.
// Few messages can take much of it, since most of them overlapped on their way with others, and so waited.
#include <cstdint>
#include <optional>

#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/latency_ranges.h"
#include "profiler/explain/finding.h"

namespace icepath::explain {

// Least share of messages with a known path that an explanation needs: by number, whatever time the others take,
// because an explanation says that the others aren't in it.
inline constexpr double kEnoughKnown = 0.5;

// Of how many messages of the range the path is known, if these are too few to stand for the others. Nothing: enough
// have one. `id` says which messages they are.
std::optional<Finding> too_few_known(FindingId id, const analysis::LatencyRange &range);

// A cell's messages with probes and without a known path.
struct UnknownPaths {
	uint64_t messages = 0, of = 0;
	double total_ns = 0, of_ns = 0;
	double share_of_time() const { return of_ns > 0 ? total_ns / of_ns : 0; }
	double mean_ns() const { return messages > 0 ? total_ns / static_cast<double>(messages) : 0; }
};
UnknownPaths unknown_paths(const analysis::CellResult &cell);

// By how much one cell's messages with probes take longer than another's on average. Less than 0: they are faster.
struct MeanLonger {
	std::optional<double> known_ns; // of those with a known path; nothing: a cell has none
	double all_ns = 0;
};
// Nothing: one of them has no messages with probes.
std::optional<MeanLonger> mean_longer(const analysis::CellResult &slower, const analysis::CellResult &faster);

} // namespace icepath::explain
