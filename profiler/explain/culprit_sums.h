// SPDX-License-Identifier: Apache-2.0
#pragma once
// What took time from messages on their way, over all cells.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/aggregate.h"

namespace icepath::explain {

struct CulpritSum {
	std::string name, layer;
	uint64_t ns = 0, segments = 0;
};
// Culprits of all cells together by name and layer, the longest first.
std::vector<CulpritSum> culprit_sums(const std::vector<analysis::CellResult> &cells);

// By name alone, without what the cell itself had done by its threads, timers and packets; and without CPUs that idled,
// whose waking is a layer of its own and took time from nobody. Nor did what woke a thread.
std::vector<CulpritSum> sums_of_others(const std::vector<analysis::CellResult> &cells);

} // namespace icepath::explain
