// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/paired_blocks.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

using Pairs = std::vector<std::pair<double, double>>;

TEST(StudentT, IsThatOfTheTables)
{
	EXPECT_NEAR(t_975(1), 12.706, 5e-4);
	EXPECT_NEAR(t_975(2), 4.303, 5e-4);
	EXPECT_NEAR(t_975(9), 2.262, 5e-4);
	EXPECT_NEAR(t_975(1000), 1.962, 5e-4);
}

TEST(Neighbours, AbbaGivesOnePairOfEachTwoRounds)
{
	EXPECT_EQ(neighbours({{0, false, 1}, {1, true, 2}, {2, true, 3}, {3, false, 4}}), (Pairs{{1, 2}, {4, 3}}));
}

TEST(Neighbours, OrderOfTheBlocksDoesntMatter)
{
	EXPECT_EQ(neighbours({{3, false, 4}, {1, true, 2}, {0, false, 1}, {2, true, 3}}), (Pairs{{1, 2}, {4, 3}}));
}

TEST(Neighbours, ABlockThatFailedLeavesItsNeighbourAlone)
{
	EXPECT_EQ(neighbours({{0, false, 1}, {2, true, 3}, {3, false, 4}, {5, true, 6}}), (Pairs{{4, 3}}));
}

TEST(Neighbours, WithoutTheOtherKindThereIsNoPair)
{
	EXPECT_TRUE(neighbours({{0, false, 1}, {1, false, 2}}).empty());
	EXPECT_TRUE(neighbours({}).empty());
}

TEST(PairedDifference, IsStudentsInterval)
{
	// Differences 1, 2, 3, 4: mean 2.5, s 1.29099, t(3) 3.18245.
	const auto effect = paired_difference({{10, 11}, {10, 12}, {10, 13}, {10, 14}});
	ASSERT_TRUE(effect && effect->interval);
	EXPECT_EQ(effect->pairs, 4u);
	EXPECT_DOUBLE_EQ(effect->mean, 2.5);
	EXPECT_NEAR(effect->interval->low, 0.44574, 1e-4);
	EXPECT_NEAR(effect->interval->high, 4.55426, 1e-4);
}

TEST(PairedDifference, FewPairsHaveNoInterval)
{
	EXPECT_FALSE(paired_difference({}).has_value());
	const auto effect = paired_difference({{1, 3}, {1, 5}});
	ASSERT_TRUE(effect.has_value());
	EXPECT_DOUBLE_EQ(effect->mean, 3);
	EXPECT_FALSE(effect->interval.has_value());
}

TEST(PairedRatio, IsTheGeometricMean)
{
	const auto effect = paired_ratio({{1, 2}, {10, 80}, {5, 20}, {0, 1}});
	ASSERT_TRUE(effect && effect->interval);
	EXPECT_EQ(effect->pairs, 3u);
	EXPECT_NEAR(effect->mean, 4, 1e-12);
	EXPECT_NEAR(effect->interval->low * effect->interval->high, 16, 1e-9) << "even on the logarithm";
}

// A machine that drifts, and nothing that differs: the interval must hold zero 19 times in 20.
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
