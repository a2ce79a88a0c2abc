// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/part_of_probes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace icepath::explain {

std::optional<stats::Effect> longer_by_probes(const analysis::CellResult &slower, const analysis::CellResult &faster)
{
	const auto &a = slower.observer_effect.p50, &b = faster.observer_effect.p50;
	if (!a || !b)
		return {};
	stats::Effect longer{a->mean - b->mean, std::min(a->pairs, b->pairs), {}};
	if (a->interval && b->interval) {
		const double half = std::hypot(a->interval->high - a->interval->low, b->interval->high - b->interval->low) / 2;
		longer.interval = {longer.mean - half, longer.mean + half};
	}
	return longer;
}

PartOfProbes part_of_probes(const std::optional<stats::Effect> &added)
{
	if (!added || !added->interval)
		return {false, std::numeric_limits<double>::infinity()};
	return {added->interval->low > 0, std::max(added->interval->high, 0.0)};
}

} // namespace icepath::explain
