// SPDX-License-Identifier: Apache-2.0
#include "profiler/calibrate/placement.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/stats/percentile.h"

namespace icepath::calibrate {
namespace {

// The ranks of the order statistics that bound the median of n values with 95 % confidence (the binomial's normal
// approximation, narrower than the exact interval by a rank at most).
std::pair<size_t, size_t> median_ranks(size_t n)
{
	const double half = 1.96 * std::sqrt(static_cast<double>(n)) / 2;
	const auto middle = static_cast<double>(n) / 2;
	const auto low = static_cast<size_t>(std::max(0.0, std::floor(middle - half)));
	return {low, n - 1 - low};
}

double clamped(double share) { return std::clamp(share, 0.0, 1.0); }

} // namespace

size_t usual_hits(std::span<const WatchedCall> calls)
{
	std::map<size_t, size_t> counts;
	for (const WatchedCall &call : calls)
		counts[call.hits_ns.size()]++;
	const auto most = std::ranges::max_element(counts, {}, [](const auto &count) { return count.second; });
	return most == counts.end() || 2 * most->second < calls.size() ? 0 : most->first;
}

std::optional<Share> place(std::span<const WatchedBlock> blocks, Hit hit, size_t hits)
{
	std::vector<double> values, lows, highs;
	for (const WatchedBlock &block : blocks) {
		std::vector<double> before, after;
		for (const WatchedCall &call : block.calls) {
			if (call.hits_ns.size() != hits)
				continue;
			const uint64_t at_ns = call.hits_ns[number_of(hit, hits)];
			before.push_back(static_cast<double>(at_ns - call.begin_ns) - block.cost.before_ns);
			after.push_back(static_cast<double>(call.end_ns - at_ns) - block.cost.after_ns);
		}
		if (before.empty())
			continue;
		const double u = std::max(0.0, stats::median(before)), v = std::max(0.0, stats::median(after));
		lows.push_back(clamped(1 - v / block.bare_ns));
		highs.push_back(clamped(u / block.bare_ns));
		values.push_back(u + v > 0 ? u / (u + v) : 0.5);
	}
	if (values.empty())
		return {};
	for (auto *all : {&values, &lows, &highs})
		std::ranges::sort(*all);
	const auto [low, high] = median_ranks(values.size());
	Share share;
	share.value = stats::median(values);
	share.low = std::min({share.value, values[low], lows[low]});
	share.high = std::max({share.value, values[high], highs[high]});
	return share;
}

} // namespace icepath::calibrate
