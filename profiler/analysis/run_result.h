// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory resolved: every number that a report shows. A pure function of the container.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/ranking.h"
#include "profiler/model/run.h"
#include "profiler/stats/percentile.h"

namespace icepath::analysis {

struct RunResult {
	model::Head head;
	std::optional<model::Tail> tail; // missing: the run is partial
	bool truncated = false;
	std::vector<CellResult> cells; // in the order of the head; a cell that was never measured has no blocks
	std::vector<model::CpuNoise> interference; // by CPU: see WorkerGaps
	std::vector<RankedGroup> ranking;
	uint64_t measured_ns = UINT64_MAX; // in all blocks: no message took longer
	stats::Percentile tail_from = stats::kP99; // of all cells' tails
	bool partial() const { return !tail || tail->interrupted; }
	bool is_whole() const { return !partial() && !truncated; }
};

} // namespace icepath::analysis
