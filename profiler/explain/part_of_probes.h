// SPDX-License-Identifier: Apache-2.0
#pragma once
// Probes lengthen messages, and those of a library more than others: its system calls are traced. What they add to a
// message is measured, by blocks with and without them; in which layers it lies isn't. So a layer or a kind of time
// that is no greater than what they may add may be theirs.
#include <optional>

#include "profiler/analysis/cell_result.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::explain {

// How much more probes add to the p50 of the slower cell than to that of the faster: that much of their difference with
// probes comes from the probes. The interval takes both cells' effects as independent.
std::optional<stats::Effect> longer_by_probes(const analysis::CellResult &slower, const analysis::CellResult &faster);

struct PartOfProbes {
	bool is_told = false; // they certainly add something
	double most_ns = 0; // the most that they may add; infinite where that isn't known
};
PartOfProbes part_of_probes(const std::optional<stats::Effect> &added);

} // namespace icepath::explain
