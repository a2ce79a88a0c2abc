// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/fitness.h"

#include <algorithm>
#include <fmt/format.h>

namespace icepath::doctor {
namespace {

double taken(const model::CpuNoise &noise)
{
	return noise.of_ns > 0 ? static_cast<double>(noise.ns) / static_cast<double>(noise.of_ns) : 0;
}

std::string percent_text(double share) { return fmt::format("{:.2g} %", share * 100); }

std::string time_text(uint64_t ns)
{
	return ns < 1'000'000 ? fmt::format("{:.3g} µs", static_cast<double>(ns) / 1e3)
						  : fmt::format("{:.3g} ms", static_cast<double>(ns) / 1e6);
}

Fitness for_ranks(const Look &look, const Fitness &medians)
{
	Fitness ranks{"ranks", std::nullopt, "the way between the CPUs couldn't be measured",
				  fmt::format("{}, < {} times apart", medians.threshold, kApartForRanks)};
	if (look.round_trips_ns.size() < 2)
		return ranks;
	if (!medians.fit) {
		ranks.found = medians.found;
		return ranks;
	}
	const auto [low, high] = std::ranges::minmax(look.round_trips_ns);
	ranks.fit = *medians.fit && static_cast<double>(high) < kApartForRanks * static_cast<double>(low);
	ranks.found = fmt::format("{}; a cache line takes {} to {} ns to the other CPU and back",
							  *medians.fit ? "others took less" : "others took more", low, high);
	return ranks;
}

} // namespace

std::vector<Fitness> fitness(const Look &look)
{
	Fitness medians{"medians", std::nullopt, "the CPUs' noise couldn't be measured",
					fmt::format("< {}", percent_text(kTakenForMedians))};
	Fitness tails{"tails", std::nullopt, medians.found,
				  fmt::format("< {}, < {}", percent_text(kTakenForTails), time_text(kLongestForTailsNs))};
	if (!look.noise.empty()) {
		const model::CpuNoise &worst = *std::ranges::max_element(look.noise, {}, taken);
		const uint64_t longest = std::ranges::max(look.noise, {}, &model::CpuNoise::longest_ns).longest_ns;
		medians.fit = taken(worst) < kTakenForMedians;
		medians.found = fmt::format("others took {} of CPU {}'s time in {:.2g} s", percent_text(taken(worst)),
									worst.cpu, static_cast<double>(worst.of_ns) / 1e9);
		tails.fit = taken(worst) < kTakenForTails && longest < kLongestForTailsNs;
		tails.found = fmt::format("{} in gaps, the longest {}", percent_text(taken(worst)), time_text(longest));
	}
	return {medians, for_ranks(look, medians), tails};
}

} // namespace icepath::doctor
