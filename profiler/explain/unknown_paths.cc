// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/unknown_paths.h"

#include <algorithm>

namespace icepath::explain {

UnknownPaths unknown_paths(const analysis::CellResult &cell)
{
	UnknownPaths unknown;
	unknown.of = cell.probed;
	unknown.messages = cell.probed - std::min(cell.probed, cell.complete());
	unknown.of_ns = cell.probed_ns;
	unknown.total_ns = std::max(0.0, cell.probed_ns - static_cast<double>(cell.layers.total_ns()));
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
	if (slower.probed == 0 || faster.probed == 0)
		return std::nullopt;
	MeanLonger longer{std::nullopt, slower.latency_probed.mean - faster.latency_probed.mean};
	if (slower.complete() > 0 && faster.complete() > 0)
		longer.known_ns = slower.layers.mean_ns() - faster.layers.mean_ns();
	return longer;
}

} // namespace icepath::explain
