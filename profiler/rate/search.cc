// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/search.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace icepath::rate {
namespace {

bool most_held(const Tally &tally) { return 2 * uint64_t{tally.held} > tally.blocks; }

// The shares that held, by rate, made to fall by pooling neighbours (isotonic regression; Ayer and others, 1955).
std::map<int, Tally> pooled(const Tallies &tallies)
{
	struct Pool {
		Tally sum;
		std::vector<int> levels;
	};
	std::vector<Pool> pools;
	for (const auto &[level, tally] : tallies) {
		pools.push_back({tally, {level}});
		const auto rises = [](const Tally &a, const Tally &b) {
			return uint64_t{b.held} * a.blocks > uint64_t{a.held} * b.blocks;
		};
		while (pools.size() > 1 && rises(pools[pools.size() - 2].sum, pools.back().sum)) {
			Pool last = std::move(pools.back());
			pools.pop_back();
			pools.back().sum.blocks += last.sum.blocks;
			pools.back().sum.held += last.sum.held;
			pools.back().levels.insert(pools.back().levels.end(), last.levels.begin(), last.levels.end());
		}
	}
	std::map<int, Tally> by_level;
	for (const Pool &pool : pools)
		for (const int level : pool.levels)
			by_level[level] = pool.sum;
	return by_level;
}

int level_below(double threshold, const Terms &terms)
{
	return static_cast<int>(std::clamp(std::floor(threshold), 1.0 * terms.lowest, 1.0 * terms.highest));
}

} // namespace

FoundRate found_rate(const Tallies &tallies, const Terms &terms)
{
	FoundRate found;
	if (tallies.empty())
		return found;
	const std::map<int, Tally> together = pooled(tallies);
	std::optional<int> proven, likely;
	uint32_t held_so_fast = 0;
	for (auto at = tallies.rbegin(); at != tallies.rend() && !proven; ++at) {
		held_so_fast += at->second.held;
		if (!most_held(together.at(at->first)))
			continue;
		likely = likely.value_or(at->first);
		if (held_so_fast >= kProof)
			proven = at->first;
	}
	const auto failed = std::ranges::find_if(together, [](const auto &one) { return !most_held(one.second); });
	if (failed != together.end())
		found.failed_hz = hz_of(failed->first);
	if (proven)
		found.hz = hz_of(*proven);
	found.statistics_hz = hz_of(proven ? *proven : likely ? *likely : tallies.begin()->first);
	const Threshold threshold = estimate(tallies, terms);
	if (threshold.low >= terms.lowest)
		found.low_hz = hz_of(static_cast<int>(std::floor(threshold.low)));
	if (threshold.high <= terms.highest)
		found.high_hz = hz_of(static_cast<int>(std::ceil(threshold.high)));
	return found;
}

bool is_time_to_confirm(uint32_t pairs_done, uint32_t expected)
{
	const uint32_t confirming = std::max(kProof, expected / 3);
	return expected >= 3 * kProof && pairs_done + confirming >= expected;
}

RateSearch::RateSearch(const Terms &terms)
	: terms_(terms), next_hz_(hz_of(level_below(estimate({}, terms).median, terms)))
{}

void RateSearch::add(double hz, bool held)
{
	const int level = level_of(hz);
	Tally &tally = tallies_[level];
	++tally.blocks;
	tally.held += held;
	int wanted = level_below(estimate(tallies_, terms_).median, terms_);
	held_in_a_row_ = held && wanted == level ? held_in_a_row_ + 1 : 0;
	if (held_in_a_row_ >= 2 && wanted < terms_.highest) {
		held_in_a_row_ = 0;
		++wanted;
	}
	next_hz_ = hz_of(std::clamp(wanted, level - kLevelsPerOctave, level + kLevelsPerOctave));
}

std::optional<double> RateSearch::best_hz() const
{
	const bool some_held = std::ranges::any_of(tallies_, [](const auto &one) { return most_held(one.second); });
	return some_held ? found().statistics_hz : std::nullopt;
}

} // namespace icepath::rate
