// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/unknown_paths.h"

#include <algorithm>

namespace icepath::explain {

UnknownPaths unknown_paths(const analysis::CellResult &cell)
{
	UnknownPaths unknown;
	unknown.of = cell.paths.deliveries;
	unknown.messages = cell.paths.deliveries - std::min(cell.paths.deliveries, cell.paths.complete());
	unknown.of_ns = cell.paths.deliveries_ns;
	unknown.total_ns = std::max(0.0, cell.paths.deliveries_ns - static_cast<double>(cell.paths.layers.total_ns()));
	return unknown;
}

std::optional<Finding> too_few_known(FindingId id, const analysis::LatencyRange &range)
{
	const uint64_t known = range.layers.deliveries();
	if (known > 0 && range.share_known() >= kEnoughKnown)
		return std::nullopt;
	return Finding{.id = id,
				   .value = number(known),
				   .limit = kEnoughKnown * number(range.messages),
				   .evidence = {{Fact::Of, number(range.messages)}}};
}

std::optional<MeanLonger> mean_longer(const analysis::CellResult &slower, const analysis::CellResult &faster)
{
	if (slower.paths.deliveries == 0 || faster.paths.deliveries == 0)
		return std::nullopt;
	MeanLonger longer{std::nullopt, slower.times.latency_probed.mean - faster.times.latency_probed.mean};
	if (slower.paths.complete() > 0 && faster.paths.complete() > 0)
		longer.known_ns = slower.paths.layers.mean_ns() - faster.paths.layers.mean_ns();
	return longer;
}

} // namespace icepath::explain
