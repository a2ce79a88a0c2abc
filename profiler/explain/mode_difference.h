// SPDX-License-Identifier: Apache-2.0
#pragma once
// By which kinds of time and layers the modes of a cell's messages differ, with probes: each mode against the fastest
// one.
#include <cstddef>
#include <vector>

#include "profiler/analysis/cell_result.h"
#include "profiler/explain/difference.h"

namespace icepath::explain {

struct ModeDifference {
	size_t fast = 0, slow = 0; // indices of modes
	Difference of; // slow less fast
};

// The difference of each mode that is seen with probes from the fastest such mode.
std::vector<ModeDifference> mode_differences(const analysis::CellResult &cell);

} // namespace icepath::explain
