// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_difference.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

WeightedBlocks alike(size_t blocks)
{
	WeightedBlocks all;
	for (size_t block = 0; block < blocks; ++block) {
		all.weights.push_back(1);
		all.clusters.push_back(static_cast<uint32_t>(block));
	}
	return all;
}

TEST(RedrawnDifference, IsThatOfTheMeans)
{
	const RedrawnDifference blocks({{1, 1, 2}, {0, 1, 2}}, {{1, 1}, {0, 2}});
	EXPECT_DOUBLE_EQ(blocks.difference({{10, 20, 50}, {3, 5}}), 20 - 4);
}

// What both means do in the same block is no difference.
TEST(RedrawnDifference, IgnoresWhatBothBlocksOfAClusterHave)
{
	const std::vector<double> a = {10, 20, 30, 40, 50, 60, 70, 80}, b = {5, 15, 25, 35, 45, 55, 65, 75};
	WeightedBlocks others = alike(8);
	const auto together = RedrawnDifference(alike(8), others).interval({a, b});
	ASSERT_TRUE(together);
	EXPECT_NEAR(together->low, 5, 1e-9);
	EXPECT_NEAR(together->high, 5, 1e-9);
	for (uint32_t &cluster : others.clusters)
		cluster = 100 + (7 * cluster) % 8; // other rounds than A's, in another order
	const auto apart = RedrawnDifference(alike(8), others).interval({a, b});
	ASSERT_TRUE(apart);
	EXPECT_LT(apart->low, -10);
	EXPECT_GT(apart->high, 20);
}

TEST(RedrawnDifference, OfAPartIsAShareOfTheWhole)
{
	// The part is 2/3 of what A has more in each block, however much that is.
	const std::vector<double> none(8, 0), whole = {3, 6, 9, 12, 15, 18, 21, 24}, part = {2, 4, 6, 8, 10, 12, 14, 16};
	const auto share = RedrawnDifference(alike(8), alike(8)).share_interval({part, none}, {whole, none});
	ASSERT_TRUE(share);
	EXPECT_NEAR(share->low, 2.0 / 3, 1e-9);
	EXPECT_NEAR(share->high, 2.0 / 3, 1e-9);
	const auto constant =
		RedrawnDifference(alike(8), alike(8)).share_interval({std::vector<double>(8, 9), none}, {whole, none});
	ASSERT_TRUE(constant);
	EXPECT_LT(constant->low, 0.55);
	EXPECT_GT(constant->high, 0.8);
}

TEST(RedrawnDifference, WhatFewBlocksHaveHasNoInterval)
{
	const std::vector<double> none(8, 0), four = {1, 1, 1, 1, 0, 0, 0, 0}, five = {1, 1, 1, 1, 1, 0, 0, 0};
	const RedrawnDifference blocks(alike(8), alike(8));
	EXPECT_FALSE(blocks.interval({four, none}));
	EXPECT_TRUE(blocks.interval({five, none}));
	EXPECT_TRUE(blocks.interval({none, five}));
	EXPECT_FALSE(RedrawnDifference(alike(2), alike(2)).interval({{1, 2}, {3, 4}}));
	EXPECT_FALSE(RedrawnDifference({}, {}).interval({}));
}

struct DifferenceCase {
	std::string name;
	size_t openings = 10, of_opening = 3; // blocks
	double shared = 0.3; // spread of what both cells have in a round, on the logarithm
	double by_opening = 0.05; // of either cell
};
class DifferenceCoverage : public testing::TestWithParam<DifferenceCase> {};

// Two layers of two cells in the same rounds: of A 9 and 3, of B 5 and 2.
TEST_P(DifferenceCoverage, NineteenOfTwentyIntervalsHoldTheTruth)
{
	const auto &run_case = GetParam();
	const int runs = runs_to_simulate(600);
	std::mt19937_64 random(51);
	const auto spread = [&](double by) {
		return std::exp(by * std::normal_distribution<double>()(random) - by * by / 2);
	};
	int held = 0, share_held = 0;
	for (int run = 0; run < runs; ++run) {
		WeightedBlocks blocks;
		TwoSums part, whole;
		for (size_t opening = 0; opening < run_case.openings; ++opening) {
			const double of_a = spread(run_case.by_opening), of_b = spread(run_case.by_opening);
			for (size_t b = 0; b < run_case.of_opening; ++b) {
				const double machine = spread(run_case.shared);
				blocks.weights.push_back(1);
				blocks.clusters.push_back(static_cast<uint32_t>(opening));
				part.a.push_back(9 * machine * of_a * spread(0.05));
				part.b.push_back(5 * machine * of_b * spread(0.05));
				whole.a.push_back(part.a.back() + 3 * machine * of_a * spread(0.05));
				whole.b.push_back(part.b.back() + 2 * machine * of_b * spread(0.05));
			}
		}
		const RedrawnDifference difference(blocks, blocks);
		const auto interval = difference.interval(part), share = difference.share_interval(part, whole);
		ASSERT_TRUE(interval && share);
		held += interval->low <= 4 && 4 <= interval->high;
		share_held += share->low <= 0.8 && 0.8 <= share->high;
	}
	std::printf("%s: %.1f %% hold the difference, %.1f %% the share\n", run_case.name.c_str(), 100.0 * held / runs,
				100.0 * share_held / runs);
	// 93 %, less 2.3 standard deviations of the count.
	const double least = 0.93 * runs - 2.3 * std::sqrt(0.93 * 0.07 * runs);
	EXPECT_GE(held, least);
	EXPECT_GE(share_held, least);
}
INSTANTIATE_TEST_SUITE_P(Cells, DifferenceCoverage,
						 testing::Values(DifferenceCase{"FiveOpenings", 5}, DifferenceCase{"TenOpenings"},
										 DifferenceCase{"Blocks40", 40, 1},
										 DifferenceCase{"UnlikeOpenings", 20, 3, 0.3, 0.2},
										 DifferenceCase{"QuietMachine", 20, 3, 0.02, 0.05}),
						 [](const auto &each) { return each.param.name; });

} // namespace
} // namespace icepath::stats
