// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/fitness.h"

#include <algorithm>
#include <fmt/format.h>

namespace icepath::model {
namespace {

double share(uint64_t ns, uint64_t of_ns)
{
	return of_ns > 0 ? static_cast<double>(ns) / static_cast<double>(of_ns) : 0;
}

double taken(const CpuNoise &noise) { return share(noise.ns, noise.of_ns); }

std::string percent_text(double share)
{
	return share < 0.095 ? fmt::format("{:.2g} %", share * 100) : fmt::format("{:.0f} %", share * 100);
}

std::string gap_text(uint64_t ns)
{
	return ns < 1'000'000     ? fmt::format("{:.3g} µs", static_cast<double>(ns) / 1e3)
		   : ns < 999'500'000 ? fmt::format("{:.3g} ms", static_cast<double>(ns) / 1e6)
							  : fmt::format("{:.3g} s", static_cast<double>(ns) / 1e9);
}

Fitness for_ranks(const Quietness &seen, const Fitness &medians)
{
	Fitness ranks{"ranks", std::nullopt, "the round trip between the CPUs wasn't measured",
				  fmt::format("{}, < {} times apart", medians.threshold, kLineApart)};
	if (!seen.round_trip_ns)
		return ranks;
	if (!medians.fit) {
		ranks.found = medians.found;
		return ranks;
	}
	const auto [low, high] = *seen.round_trip_ns;
	ranks.fit = *medians.fit && static_cast<double>(high) < kLineApart * static_cast<double>(low);
	ranks.found = !*medians.fit ? medians.found
								: fmt::format("a cache line takes {} to {} ns to the other CPU and back", low, high);
	return ranks;
}

} // namespace

std::vector<Fitness> fitness(const Quietness &seen)
{
	Fitness medians{"medians", std::nullopt, "the CPUs' noise wasn't measured",
					fmt::format("< {}", percent_text(kTakenForMedians))};
	Fitness tails{"tails", std::nullopt, medians.found,
				  fmt::format("< {}, < {}", percent_text(kTakenForTails), gap_text(kLongestForTailsNs))};
	if (!seen.noise.empty()) {
		const CpuNoise &worst = *std::ranges::max_element(seen.noise, {}, taken);
		const uint64_t longest = std::ranges::max(seen.noise, {}, &CpuNoise::longest_ns).longest_ns;
		const double stolen = seen.steal ? share(seen.steal->ns, seen.steal->of_ns) : 0;
		const double lost = std::max(taken(worst), stolen); // what a hypervisor took during the look is in both
		medians.fit = lost < kTakenForMedians;
		medians.found = fmt::format("others took {} of CPU {}'s time in {:.2g} s", percent_text(taken(worst)),
									worst.cpu, static_cast<double>(worst.of_ns) / 1e9);
		tails.fit = lost < kTakenForTails && longest < kLongestForTailsNs;
		tails.found = fmt::format("{} in gaps, the longest {}", percent_text(taken(worst)), gap_text(longest));
		if (stolen > 0)
			for (Fitness *one : {&medians, &tails})
				one->found += fmt::format(", the hypervisor {}", percent_text(stolen));
	}
	return {medians, for_ranks(seen, medians), tails};
}

} // namespace icepath::model
