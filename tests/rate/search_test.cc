// SPDX-License-Identifier: Apache-2.0
// The search on simulated transports with known thresholds: sharp and gradual, on quiet and on disturbed machines.
#include "profiler/rate/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace icepath::rate {
namespace {

Terms usual_terms()
{
	model::Cell cell;
	cell.limits = model::RateLimits{};
	return terms_of(cell);
}

// A block holds at level n with probability (1 - disturbed) / (1 + exp((n - threshold) / width)); width 0: sharp.
struct Transport {
	double threshold, width, disturbed;

	double chance(double level) const
	{
		const double curve = width > 0 ? 1 / (1 + std::exp((level - threshold) / width)) : level <= threshold;
		return (1 - disturbed) * curve;
	}
	// The level at which half of the blocks hold.
	double half() const { return width > 0 ? threshold + width * std::log(1 - 2 * disturbed) : threshold; }
};

RateSearch searched(const Transport &transport, int blocks, uint32_t seed)
{
	std::mt19937 random(seed);
	std::uniform_real_distribution<double> luck(0, 1);
	RateSearch search(usual_terms());
	for (int i = 0; i < blocks; ++i) {
		const double hz = search.next_hz();
		search.add(hz, luck(random) < transport.chance(level_of(hz)));
	}
	return search;
}

int level(const std::optional<double> &hz) { return level_of(hz.value()); }

TEST(RateSearch, FindsASharpThresholdWhereverItIs)
{
	const Terms terms = usual_terms();
	for (int threshold = terms.lowest; threshold < terms.highest; ++threshold) {
		const FoundRate found = searched({1.0 * threshold, 0, 0}, 24, 1).found();
		ASSERT_TRUE(found.hz) << threshold;
		EXPECT_EQ(level(found.hz), threshold);
		EXPECT_EQ(level(found.failed_hz), threshold + 1) << "the next level is known to fail";
		EXPECT_EQ(found.statistics_hz, found.hz);
		if (threshold > terms.highest - kLevelsPerOctave)
			continue; // the interval's end may lie beyond the terms
		ASSERT_TRUE(found.high_hz) << threshold;
		EXPECT_LE(found.low_hz.value_or(0), hz_of(threshold + 1));
		EXPECT_GE(*found.high_hz, hz_of(threshold));
		EXPECT_LE(*found.high_hz, hz_of(threshold + kLevelsPerOctave));
	}
}

TEST(RateSearch, SaysWhereNothingHoldsOrAllDoes)
{
	const Terms terms = usual_terms();
	const FoundRate none = searched({terms.lowest - 10.0, 0, 0}, 30, 1).found();
	EXPECT_FALSE(none.hz || none.low_hz);
	EXPECT_EQ(none.failed_hz, hz_of(terms.lowest));
	EXPECT_EQ(none.statistics_hz, hz_of(terms.lowest));
	EXPECT_FALSE(searched({terms.lowest - 10.0, 0, 0}, 30, 1).best_hz());
	const FoundRate all = searched({terms.highest + 50.0, 0, 0}, 30, 1).found();
	EXPECT_EQ(all.hz, hz_of(terms.highest));
	EXPECT_FALSE(all.failed_hz || all.high_hz);
}

TEST(RateSearch, AFewBlocksProveNothing)
{
	RateSearch search(usual_terms());
	EXPECT_FALSE(search.best_hz() || search.found().hz || search.found().statistics_hz);
	const double hz = search.next_hz();
	search.add(hz, true);
	search.add(hz, true);
	EXPECT_FALSE(search.found().hz) << "two of two";
	EXPECT_EQ(search.best_hz(), hz) << "but nothing better is known";
	EXPECT_EQ(search.found().statistics_hz, hz);
	search.add(hz, false);
	EXPECT_FALSE(search.found().hz) << "two of three";
	search.add(hz, true);
	EXPECT_EQ(search.found().hz, hz) << "three of four";
	for (int i = 0; i < 2; ++i)
		search.add(hz, false);
	EXPECT_FALSE(search.found().hz) << "three of six are no majority";
}

// Three lucky blocks at a rate are no proof if blocks at lower rates failed more often.
TEST(FoundRate, WhatHoldsMustHoldBelowToo)
{
	Tallies tallies;
	tallies[10] = {10, 9};
	tallies[11] = {10, 2};
	tallies[12] = {4, 3};
	EXPECT_EQ(found_rate(tallies, usual_terms()).hz, hz_of(10));
	tallies[11] = {10, 8};
	EXPECT_EQ(found_rate(tallies, usual_terms()).hz, hz_of(12));
}

TEST(RateSearch, StaysWithinItsTermsAndEndsBetweenWhatHeldAndWhatFailed)
{
	const Terms terms = usual_terms();
	for (uint32_t seed = 0; seed < 100; ++seed) {
		std::mt19937 random(seed);
		RateSearch search(terms);
		Tallies tallies;
		for (int i = 0; i < 40; ++i) {
			const double hz = search.next_hz();
			ASSERT_GE(level_of(hz), terms.lowest);
			ASSERT_LE(level_of(hz), terms.highest);
			const bool held = random() % 2; // chance only: there is no threshold
			search.add(hz, held);
			++tallies[level_of(hz)].blocks;
			tallies[level_of(hz)].held += held;
		}
		const FoundRate found = search.found();
		ASSERT_TRUE(found.statistics_hz);
		if (found.hz) {
			uint32_t held = 0;
			for (auto at = tallies.lower_bound(level_of(*found.hz)); at != tallies.end(); ++at)
				held += at->second.held;
			EXPECT_GE(held, kProof);
			EXPECT_TRUE(tallies.count(level_of(*found.hz))) << "it was tried";
			EXPECT_GT(found.failed_hz.value_or(1e9), *found.hz);
		}
	}
}

struct Kind {
	const char *name;
	double width, disturbed;
	double tolerated; // largest error, in levels, of 95 % of the searches
};

class Noisy : public testing::TestWithParam<Kind> {};

TEST_P(Noisy, AnswerIsNearTheTruthAndTheIntervalHoldsIt)
{
	const auto [name, width, disturbed, tolerated] = GetParam();
	constexpr int kSearches = 200, kBlocks = 40;
	int missing = 0, far = 0, outside = 0;
	double error = 0;
	for (int seed = 0; seed < kSearches; ++seed) {
		const Transport transport{-30 + 0.13 * (seed * 5 % 900), width, disturbed};
		const FoundRate found = searched(transport, kBlocks, static_cast<uint32_t>(seed)).found();
		if (!found.hz) {
			++missing;
			continue;
		}
		// The best possible answer is the highest level of the grid that isn't above the truth.
		const double off = level(found.hz) + 0.5 - transport.half();
		error += off;
		far += std::abs(off) > tolerated;
		const double truth_hz = hz_of(0) * std::exp2(transport.half() / kLevelsPerOctave);
		outside += truth_hz < found.low_hz.value_or(0) || truth_hz > found.high_hz.value_or(1e12);
	}
	const int answers = kSearches - missing;
	EXPECT_LE(missing, kSearches / 100);
	EXPECT_LE(far, answers / 20);
	EXPECT_LE(outside, answers * 6 / 100);
	EXPECT_LE(std::abs(error / answers), 1 + width / 2) << "on average";
}

INSTANTIATE_TEST_SUITE_P(RateSearch, Noisy,
						 testing::Values(Kind{"sharp", 0, 0, 1.1}, Kind{"narrow", 0.5, 0.02, 2.5},
										 Kind{"wide", 2, 0.02, 6}, Kind{"disturbed", 0.3, 0.2, 3},
										 Kind{"wide_and_disturbed", 2, 0.2, 8}),
						 [](const auto &kind) { return kind.param.name; });

} // namespace
} // namespace icepath::rate
