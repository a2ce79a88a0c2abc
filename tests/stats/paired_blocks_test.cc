// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/paired_blocks.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

using Pairs = std::vector<BlockPair>;

TEST(StudentT, IsThatOfTheTables)
{
	EXPECT_NEAR(t_975(1), 12.706, 5e-4);
	EXPECT_NEAR(t_975(2), 4.303, 5e-4);
	EXPECT_NEAR(t_975(9), 2.262, 5e-4);
	EXPECT_NEAR(t_975(1000), 1.962, 5e-4);
}

TEST(Neighbours, AbbaGivesOnePairOfEachTwoRounds)
{
	EXPECT_EQ(neighbours({{0, false, 1}, {1, true, 2}, {2, true, 3}, {3, false, 4}}),
			  (Pairs{{1, 2, true, 0.5}, {4, 3, false, 2.5}}));
}

TEST(Neighbours, OrderOfTheBlocksDoesntMatter)
{
	EXPECT_EQ(neighbours({{3, false, 4}, {1, true, 2}, {0, false, 1}, {2, true, 3}}),
			  (Pairs{{1, 2, true, 0.5}, {4, 3, false, 2.5}}));
}

TEST(Neighbours, ABlockThatFailedLeavesItsNeighbourAlone)
{
	EXPECT_EQ(neighbours({{0, false, 1}, {2, true, 3}, {3, false, 4}, {5, true, 6}}), (Pairs{{4, 3, false, 2.5}}));
}

TEST(Neighbours, WithoutTheOtherKindThereIsNoPair)
{
	EXPECT_TRUE(neighbours({{0, false, 1}, {1, false, 2}}).empty());
	EXPECT_TRUE(neighbours({}).empty());
}

TEST(PairedDifference, IsStudentsInterval)
{
	// Differences 1, 2 in one order and 3, 4 in the other: 1.5 and 3.5, so 2.5; s 0.70711 with two degrees, t(2)
	// 4.30265, and half of the root of 1/2 + 1/2.
	const auto effect =
		paired_difference({{10, 11, true, 0.5}, {10, 13, false, 2.5}, {10, 12, true, 4.5}, {10, 14, false, 6.5}});
	ASSERT_TRUE(effect && effect->interval);
	EXPECT_EQ(effect->pairs, 4u);
	EXPECT_DOUBLE_EQ(effect->mean, 2.5);
	EXPECT_NEAR(effect->interval->low, 2.5 - 1.52121, 1e-4);
	EXPECT_NEAR(effect->interval->high, 2.5 + 1.52121, 1e-4);
}

TEST(PairedDifference, FewPairsHaveNoInterval)
{
	EXPECT_FALSE(paired_difference({}).has_value());
	const auto effect = paired_difference({{1, 3, true, 0.5}, {1, 5, false, 2.5}});
	ASSERT_TRUE(effect.has_value());
	EXPECT_DOUBLE_EQ(effect->mean, 3);
	EXPECT_FALSE(effect->interval.has_value());
}

// Each round is 7 slower than the one before; the treatment adds 100. `rounds`: those without failure.
std::optional<Effect> of_drifting_rounds(const std::vector<uint32_t> &rounds)
{
	std::vector<BlockValue> blocks;
	for (const uint32_t round : rounds) {
		const bool treated = round % 4 == 0 || round % 4 == 3;
		blocks.push_back({round, treated, 8000 + 7.0 * round + (treated ? 100 : 0)});
	}
	return paired_difference(neighbours(blocks));
}

TEST(PairedDifference, IsFreeOfLinearDriftWhicheverRoundsFellOut)
{
	EXPECT_NEAR(of_drifting_rounds({0, 1, 2, 3, 4, 5, 6, 7})->mean, 100, 1e-9);
	// Rounds 6, 14 and 22 are counted and have no latency, so the two orders have different numbers of pairs.
	std::vector<uint32_t> without_counted;
	for (uint32_t round = 0; round < 24; ++round)
		if (round % 8 != 6)
			without_counted.push_back(round);
	const auto effect = of_drifting_rounds(without_counted);
	EXPECT_EQ(effect->pairs, 9u);
	EXPECT_NEAR(effect->mean, 100, 1e-9);
	EXPECT_NEAR(effect->interval->low, 100, 1e-6);
	EXPECT_NEAR(of_drifting_rounds({0, 1, 3, 4, 5, 6, 7, 8})->mean, 100, 1e-9) << "round 2 failed";
	// If a cell rests in every second pair, all its pairs have one order.
	EXPECT_NEAR(of_drifting_rounds({0, 1, 4, 5, 8, 9})->mean, 100, 1e-9);
	EXPECT_NEAR(of_drifting_rounds({2, 3, 6, 7, 10, 11})->mean, 100, 1e-9);
}

// Drift and no effect, in every case above: the interval must contain zero 19 times in 20.
TEST(PairedDifference, HoldsTheTruthNineteenTimesInTwenty)
{
	std::mt19937_64 random(43);
	std::normal_distribution<double> normal;
	for (const auto &[rests, counts] : {std::pair{false, false}, {false, true}, {true, false}}) {
		int held = 0;
		constexpr int kRuns = 1000;
		for (int run = 0; run < kRuns; ++run) {
			std::vector<BlockValue> blocks;
			for (uint32_t round = 0; round < 24; ++round)
				if (!(rests && round % 4 >= 2) && !(counts && round % 8 == 6))
					blocks.push_back(
						{round, round % 4 == 0 || round % 4 == 3, 8000 + 60.0 * round + 50 * normal(random)});
			const auto effect = paired_difference(neighbours(blocks));
			held += effect->interval->low <= 0 && 0 <= effect->interval->high;
		}
		EXPECT_GE(held, kRuns * 92 / 100) << rests << counts;
		EXPECT_LE(held, kRuns * 98 / 100) << rests << counts;
	}
}

// A drifting machine and no effect: the interval must contain zero 19 times in 20.
TEST(PairedDifference, FindsNothingWhereThereIsNothing)
{
	std::mt19937_64 random(23);
	std::normal_distribution<double> normal;
	int held = 0;
	constexpr int kRuns = 1000;
	for (int run = 0; run < kRuns; ++run) {
		std::vector<BlockValue> blocks;
		double drift = 8000;
		for (uint32_t round = 0; round < 20; ++round) {
			drift += 100 * normal(random);
			blocks.push_back({round, round % 4 == 1 || round % 4 == 2, drift + 50 * normal(random)});
		}
		const auto effect = paired_difference(neighbours(blocks));
		held += effect->interval->low <= 0 && 0 <= effect->interval->high;
	}
	EXPECT_GE(held, kRuns * 92 / 100);
	EXPECT_LE(held, kRuns * 98 / 100);
}

} // namespace
} // namespace icepath::stats
