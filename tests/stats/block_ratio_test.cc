// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_ratio.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

TEST(RedrawnMeans, IsTheMeanOfBlocksThatCountAlike)
{
	const RedrawnMeans blocks({1, 1, 1, 1, 1, 1});
	EXPECT_DOUBLE_EQ(blocks.mean({1, 2, 3, 4, 5, 6}), 3.5);
	const auto interval = blocks.interval({1, 2, 3, 4, 5, 6});
	ASSERT_TRUE(interval.has_value());
	// Standard error of the mean 0.7638; effective number 4.846, t(3.846) 2.82: exp(±0.615) of it. The bootstrap gives
	// its spread within 3.5 %.
	EXPECT_NEAR(interval->low, 3.5 * std::exp(-0.615), 0.1);
	EXPECT_NEAR(interval->high, 3.5 * std::exp(0.615), 0.3);
	const auto certain = blocks.interval({2, 2, 2, 2, 2, 2});
	ASSERT_TRUE(certain.has_value());
	EXPECT_DOUBLE_EQ(certain->low, 2);
	EXPECT_DOUBLE_EQ(certain->high, 2);
}

TEST(RedrawnMeans, IsOverWhatCounts)
{
	// A tail that two blocks don't have.
	const RedrawnMeans tail({0.5, 0.25, 0.25, 0, 0});
	EXPECT_DOUBLE_EQ(tail.mean({50, 25, 25, 0, 0}), 100);
	EXPECT_EQ(RedrawnMeans({0, 0, 0, 0, 0}).mean({0, 0, 0, 0, 0}), 0);
}

TEST(RedrawnMeans, WhatFewBlocksHaveHasNoInterval)
{
	const RedrawnMeans ten(std::vector<double>(10, 1));
	EXPECT_FALSE(ten.interval({1, 1, 1, 1, 0, 0, 0, 0, 0, 0}).has_value());
	EXPECT_TRUE(ten.interval({1, 1, 1, 1, 1, 0, 0, 0, 0, 0}).has_value());
	EXPECT_FALSE(RedrawnMeans({1, 1, 1, 1}).interval({1, 2, 3, 4}).has_value());
	EXPECT_FALSE(RedrawnMeans({}).interval({}).has_value());
	EXPECT_FALSE(RedrawnMeans({0, 0, 0, 0, 0}).interval({0, 0, 0, 0, 0}).has_value());
}

TEST(RedrawnMeans, BlocksOfOneClusterAreOnePieceOfEvidence)
{
	const std::vector<double> sums = {1, 1, 1, 5, 5, 5, 9, 9, 9};
	const RedrawnMeans alone(std::vector<double>(9, 1)),
		together(std::vector<double>(9, 1), {0, 0, 0, 1, 1, 1, 2, 2, 2});
	EXPECT_GT(together.interval(sums)->high, 1.5 * alone.interval(sums)->high);
	EXPECT_FALSE(RedrawnMeans(std::vector<double>(9, 1), {0, 0, 0, 0, 1, 1, 1, 1, 1}).interval(sums).has_value());
}

// A block's part of a layer and of the messages concerned.
struct BlockPart {
	double sum = 0, weight = 0;
};
using Layer = std::function<BlockPart(std::mt19937_64 &)>;

double normal(std::mt19937_64 &random) { return std::normal_distribution<double>()(random); }

// In every message; on the logarithm, blocks differ by `between` and messages by 0.5.
BlockPart of_each_message(std::mt19937_64 &random, double between)
{
	const double shift = between * normal(random);
	double sum = 0;
	for (int i = 0; i < 200; ++i)
		sum += 1000 * std::exp(shift + 0.5 * normal(random));
	return {sum / 200, 1};
}

// Occasional stalls of several messages, of varying length: preempted, interrupt.
BlockPart of_stalls(std::mt19937_64 &random, double per_block, double spread)
{
	double sum = 0;
	for (int stalls = std::poisson_distribution<int>(per_block)(random); stalls > 0; --stalls)
		sum += 1e6 * std::exp(spread * normal(random));
	return {sum / 1000, 1};
}

// Of messages at or above a fixed time, a few in each block: the part that a stall has in them.
BlockPart of_a_tail(std::mt19937_64 &random)
{
	BlockPart part;
	const double busy = std::exp(0.5 * normal(random));
	for (int messages = std::poisson_distribution<int>(6 * busy)(random); messages > 0; --messages) {
		part.sum += 20'000 * std::exp(0.7 * normal(random)) / 1000;
		part.weight += 1.0 / 1000;
	}
	return part;
}

struct LayerCase {
	std::string name;
	size_t blocks;
	Layer layer;
};
class LayerCoverage : public testing::TestWithParam<LayerCase> {};

TEST_P(LayerCoverage, NineteenOfTwentyIntervalsHoldTheTruth)
{
	const auto &[name, blocks, layer] = GetParam();
	const int runs = runs_to_simulate(600);
	std::mt19937_64 random(37);
	BlockPart all;
	for (int i = 0; i < 100'000; ++i) {
		const BlockPart part = layer(random);
		all.sum += part.sum;
		all.weight += part.weight;
	}
	const double truth = all.sum / all.weight;
	int shown = 0, held = 0;
	for (int run = 0; run < runs; ++run) {
		std::vector<double> sums, weights;
		for (size_t b = 0; b < blocks; ++b) {
			const BlockPart part = layer(random);
			sums.push_back(part.sum);
			weights.push_back(part.weight);
		}
		if (const auto interval = RedrawnMeans(weights).interval(sums)) {
			++shown;
			held += interval->low <= truth && truth <= interval->high;
		}
	}
	std::printf("%s: %d of %d shown, %.1f %% of them hold the truth\n", name.c_str(), shown, runs,
				100.0 * held / shown);
	EXPECT_GT(shown, runs / 20);
	// 93 %, less 2.3 standard deviations of the count.
	EXPECT_GE(held, 0.93 * shown - 2.3 * std::sqrt(0.93 * 0.07 * shown));
}
INSTANTIATE_TEST_SUITE_P(
	Layers, LayerCoverage,
	testing::Values(LayerCase{"EachMessage6", 6, [](auto &random) { return of_each_message(random, 0.1); }},
					LayerCase{"EachMessage10", 10, [](auto &random) { return of_each_message(random, 0.3); }},
					LayerCase{"EachMessage30", 30, [](auto &random) { return of_each_message(random, 0.3); }},
					LayerCase{"EachMessage100", 100, [](auto &random) { return of_each_message(random, 0.1); }},
					LayerCase{"Stalls30", 30, [](auto &random) { return of_stalls(random, 0.1, 0.5); }},
					LayerCase{"Stalls100", 100, [](auto &random) { return of_stalls(random, 0.1, 0.5); }},
					LayerCase{"UnlikeStalls100", 100, [](auto &random) { return of_stalls(random, 0.3, 1); }},
					LayerCase{"ManyStalls10", 10, [](auto &random) { return of_stalls(random, 1, 0.7); }},
					LayerCase{"Tail6", 6, of_a_tail}, LayerCase{"Tail10", 10, of_a_tail},
					LayerCase{"Tail30", 30, of_a_tail}, LayerCase{"Tail100", 100, of_a_tail}),
	[](const auto &layer) { return layer.param.name; });

} // namespace
} // namespace icepath::stats
