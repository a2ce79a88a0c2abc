// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/fitness_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace icepath::text {
namespace {

std::string gap_text(uint64_t ns)
{
	return ns < 1'000'000     ? fmt::format("{:.3g} µs", static_cast<double>(ns) / 1e3)
		   : ns < 999'500'000 ? fmt::format("{:.3g} ms", static_cast<double>(ns) / 1e6)
							  : fmt::format("{:.3g} s", static_cast<double>(ns) / 1e9);
}

std::string taken_text(const model::Taken &taken, bool by_gaps)
{
	const std::string text =
		taken.during_run
			? fmt::format("others kept workers off CPU {} for {} of the run", taken.cpu, share_text(taken.share))
		: by_gaps ? fmt::format("{} in gaps, the longest {}", share_text(taken.share), gap_text(taken.longest_ns))
				  : fmt::format("others took {} of CPU {}'s time in {:.2g} s", share_text(taken.share), taken.cpu,
								static_cast<double>(taken.of_ns) / 1e9);
	return text +
		   (taken.stolen >= model::kTakenForTails ? fmt::format(", the hypervisor {}", share_text(taken.stolen)) : "");
}

} // namespace

std::string share_text(double share)
{
	return share < 0.095 ? fmt::format("{:.2g} %", share * 100) : fmt::format("{:.0f} %", share * 100);
}

const char *answer(const model::Fitness &fitness) { return !fitness.fit ? "unknown" : *fitness.fit ? "yes" : "no"; }

std::string found_text(const model::Fitness &fitness)
{
	const bool is_of_ranks = fitness.purpose == model::Purpose::Ranks;
	if (is_of_ranks && !fitness.round_trip_ns)
		return "the round trip between the CPUs wasn't measured";
	if (!fitness.taken)
		return "the CPUs' noise wasn't measured";
	const bool is_taken = std::max(fitness.taken->share, fitness.taken->stolen) >= model::kTakenForMedians;
	return is_of_ranks && !is_taken ? fmt::format("a cache line takes {} to {} ns to the other CPU and back",
												  fitness.round_trip_ns->first, fitness.round_trip_ns->second)
									: taken_text(*fitness.taken, fitness.purpose == model::Purpose::Tails);
}

std::string threshold_text(model::Purpose purpose)
{
	std::string of_medians = "< " + share_text(model::kTakenForMedians);
	switch (purpose) {
	case model::Purpose::Medians:
		break;
	case model::Purpose::Ranks:
		return fmt::format("{}, < {} times apart", of_medians, model::kLineApart);
	case model::Purpose::Tails:
		return fmt::format("< {}, < {}", share_text(model::kTakenForTails), gap_text(model::kLongestForTailsNs));
	}
	return of_medians;
}

} // namespace icepath::text
