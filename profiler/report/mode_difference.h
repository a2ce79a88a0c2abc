// SPDX-License-Identifier: Apache-2.0
#pragma once
// By which kinds of time and layers the modes of a cell's messages differ, with probes: each mode against the fastest
// one.
#include <cstddef>
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/difference.h"
#include "profiler/report/page.h"

namespace icepath::report {

struct ModeDifference {
	size_t fast = 0, slow = 0; // indices of modes
	Difference of; // slow less fast
};

// The difference of each mode that is seen with probes from the fastest such mode.
std::vector<ModeDifference> mode_differences(const CellResult &cell);

// A section for the cell.
void add_mode_differences(Page &page, const CellResult &cell);

} // namespace icepath::report
