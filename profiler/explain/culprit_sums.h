// SPDX-License-Identifier: Apache-2.0
#pragma once
// What took time from messages on their way, over all cells.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/cell_result.h"

namespace icepath::explain {

struct CulpritSum {
	std::string name;
	path::Culprit::Kind kind = path::Culprit::Kind::Task;
	analysis::Origin origin = analysis::Origin::Unknown;
	bool ended_sleep = false; // it took no CPU from anybody
	std::optional<model::Layer> layer = {}; // nothing: of all
	uint64_t ns = 0, segments = 0;
};
// Culprits of all cells together by name, origin and layer, the longest first.
std::vector<CulpritSum> culprit_sums(const std::vector<analysis::CellResult> &cells);

// By name and origin alone, without what the cell itself had done by its threads, timers and packets; and without CPUs
// that idled, whose waking is a layer of its own and took time from nobody. Nor did what woke a thread.
std::vector<CulpritSum> sums_of_others(const std::vector<analysis::CellResult> &cells);

} // namespace icepath::explain
