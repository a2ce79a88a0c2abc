// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/fitness.h"

#include <algorithm>

namespace icepath::model {
namespace {

double share(uint64_t ns, uint64_t of_ns)
{
	return of_ns > 0 ? static_cast<double>(ns) / static_cast<double>(of_ns) : 0;
}

double taken(const CpuNoise &noise) { return share(noise.ns, noise.of_ns); }

Taken taken_of(const Quietness &seen)
{
	const CpuNoise &worst = *std::ranges::max_element(seen.noise, {}, taken);
	return {worst.cpu,
			taken(worst),
			false,
			worst.of_ns,
			std::ranges::max(seen.noise, {}, &CpuNoise::longest_ns).longest_ns,
			seen.steal ? share(seen.steal->ns, seen.steal->of_ns) : 0};
}

// A look of some hundred milliseconds doesn't see what begins later.
Taken with_the_run(Taken look, const std::vector<CpuNoise> &kept_off)
{
	for (const CpuNoise &of_cpu : kept_off)
		if (taken(of_cpu) > look.share)
			look = {of_cpu.cpu, taken(of_cpu), true, of_cpu.of_ns, look.longest_ns, look.stolen};
	return look;
}

} // namespace

std::vector<Fitness> fitness(const Quietness &seen)
{
	Fitness medians{Purpose::Medians, {}, {}, {}}, ranks{Purpose::Ranks, {}, {}, seen.round_trip_ns},
		tails{Purpose::Tails, {}, {}, {}};
	if (seen.noise.empty())
		return {medians, ranks, tails};
	const Taken look = taken_of(seen), taken = with_the_run(look, seen.kept_off);
	const double lost = std::max(taken.share, taken.stolen); // what a hypervisor took during the look is in both
	medians.taken = ranks.taken = tails.taken = taken;
	medians.fit = lost < kTakenForMedians;
	tails.fit = lost < kTakenForTails && look.longest_ns < kLongestForTailsNs;
	if (taken.share < kTakenForTails) // then it is the look's longest gap
		tails.taken = look;
	if (const auto &trip = seen.round_trip_ns)
		ranks.fit = *medians.fit && static_cast<double>(trip->second) < kLineApart * static_cast<double>(trip->first);
	return {medians, ranks, tails};
}

} // namespace icepath::model
