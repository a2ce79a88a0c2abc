// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why one cell of a run is slower than another. Blocks without probes show whether it is, by ratios within rounds. The
// typical messages (p40 to p60) of blocks with probes show where the time goes.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/named_cells.h"
#include "profiler/analysis/run_result.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/finding.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/explain/remedies.h"
#include "profiler/stats/round_ratio.h"

namespace icepath::explain {

struct Against {
	size_t slower = 0, faster = 0; // indices of the cells; as they were asked for if the ratio isn't known
	bool as_asked = true; // false: the cell that was asked about is the faster one
	std::optional<stats::RoundRatio> ratio; // slower over faster, without probes
	std::vector<std::string> unlike; // what differs besides the target: "wait: epoll and block"
	std::optional<Finding> refusal; // why there is no difference to explain; nothing: there is
	std::optional<Difference> difference; // of typical messages, slower less faster; only without a refusal
	std::vector<Cause> causes; // of typical messages, slower against faster
	std::vector<Remedy> remedies; // for the slower one
	std::vector<std::string> others; // options of explain that name other pairs, which the question may have meant
	size_t others_without = 0; // such pairs that no options name: another cell has the same title
};

Against explain_against(const analysis::RunResult &result, size_t cell, size_t against);

// Compares the most alike two of the cells that `texts`, of --cell and --against, name (named_cells.h).
Against explain_named(const analysis::RunResult &result, const std::pair<std::string, std::string> &texts);

} // namespace icepath::explain
