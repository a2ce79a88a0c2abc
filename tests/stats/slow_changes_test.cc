// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/slow_changes.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <random>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/block_ratio.h"
#include "profiler/stats/distributions.h"
#include "profiler/stats/paired_blocks.h"

namespace icepath::stats {
namespace {

TEST(SlowChanges, StretchesAreOfClustersThatFollowEachOther)
{
	const Clusters stretches = stretches_of(numbered({4, 4, 9, 2, 2, 7, 1, 5, 5, 6, 8}, 11));
	EXPECT_EQ(stretches.count, kFewStretches);
	EXPECT_EQ(stretches.of_block, (std::vector<size_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3}));
	EXPECT_EQ(stretches_of(numbered({}, 16)).count, kStretches);
	EXPECT_EQ(stretches_of(numbered({}, 7)).count, 0u) << "too few to be cut";
	EXPECT_TRUE(stretches_of(numbered({}, 7)).of_block.empty());
}

TEST(SlowChanges, AddWhatStretchesDifferByBesideTheirClusters)
{
	// 8 · (3 - 1) · 16 / (16 - 8) = 32, with 7 degrees of freedom, to 1 with 15.
	const Spread spread = with_slow_changes(1, 15, 16, 3, 8);
	EXPECT_DOUBLE_EQ(spread.variance, 33);
	EXPECT_DOUBLE_EQ(spread.freedom, 33 * 33 / (1.0 / 15 + 32 * 32 / 7.0));
	EXPECT_DOUBLE_EQ(spread.half_width(), t_975(spread.freedom) * std::sqrt(33));
	EXPECT_DOUBLE_EQ(with_slow_changes(4, 9, 16, 3, 8).half_width(), 2 * t_975(9)) << "stretches differ by less";
	EXPECT_DOUBLE_EQ(with_slow_changes(4, 9, 7, 0, 0).half_width(), 2 * t_975(9)) << "there are none";
}

constexpr size_t kClusters = 40;

// Each cluster's offset on the logarithm: the machine stays in one mood for about a fifth of a run, from any point, and
// each cluster adds chance.
std::vector<double> moody(std::mt19937_64 &random, double mood_sd, double chance_sd)
{
	std::normal_distribution<double> normal;
	std::vector<double> clusters;
	double mood = mood_sd * normal(random);
	for (size_t i = 0; i < kClusters; ++i) {
		if (random() % (kClusters / 5) == 0)
			mood = mood_sd * normal(random);
		clusters.push_back(mood + chance_sd * normal(random));
	}
	return clusters;
}

std::vector<std::vector<uint64_t>> messages_of(std::mt19937_64 &random, const std::vector<double> &clusters)
{
	std::normal_distribution<double> normal;
	std::vector<std::vector<uint64_t>> blocks;
	for (const double shift : clusters)
		for (std::vector<uint64_t> &block = blocks.emplace_back(); block.size() < 100;)
			block.push_back(static_cast<uint64_t>(std::llround(8000 * std::exp(shift + 0.1 * normal(random)))));
	return blocks;
}

struct Tally {
	int disjoint = 0, truth = 0;
	double width = 0; // mean
};

constexpr int kRuns = 400;

template <typename IntervalOf> Tally pairs_of_runs(double truth, const IntervalOf &interval_of)
{
	std::mt19937_64 random(31);
	Tally tally;
	std::optional<Interval> before;
	for (int run = 0; run < kRuns; ++run) {
		const Interval interval = interval_of(random);
		tally.truth += interval.low <= truth && truth <= interval.high;
		tally.width += (interval.high - interval.low) / kRuns;
		if (run % 2)
			tally.disjoint += interval.high < before->low || before->high < interval.low;
		before = interval;
	}
	return tally;
}

Tally of_p50s(double mood_sd, double chance_sd, bool in_order)
{
	return pairs_of_runs(8000, [&](std::mt19937_64 &random) {
		std::vector<double> clusters = moody(random, mood_sd, chance_sd);
		if (!in_order)
			std::ranges::shuffle(clusters, random);
		return *describe(messages_of(random, clusters)).intervals[0];
	});
}

TEST(SlowChanges, P50sOfAMoodyMachineHoldForAnotherRun)
{
	const Tally tally = of_p50s(0.05, 0.02, true);
	std::printf("moody: %d of %d pairs disjoint, %d of %d hold the truth\n", tally.disjoint, kRuns / 2, tally.truth,
				kRuns);
	EXPECT_LE(tally.disjoint, kRuns / 2 * 5 / 100);
	EXPECT_GE(tally.truth, kRuns * 92 / 100);
}

// Counter-test: out of order, moods look like chance, and the intervals are the old ones.
TEST(SlowChanges, WithoutTheOrderOfClustersTheyDoNot)
{
	const Tally tally = of_p50s(0.05, 0.02, false);
	EXPECT_GE(tally.disjoint, kRuns / 2 * 20 / 100);
	EXPECT_LE(tally.truth, kRuns * 75 / 100);
}

// The cost of the caution if nothing changes slowly.
TEST(SlowChanges, OfAMachineWithoutMoodsIntervalsAreNotMuchWider)
{
	const Tally tally = of_p50s(0, 0.05, true);
	const double plain = 2 * 8000 * t_975(kClusters - 1) * std::hypot(0.05, 0.1 * 1.2533 / 10) / std::sqrt(kClusters);
	std::printf("steady: %.2f times as wide, %d of %d hold the truth\n", tally.width / plain, tally.truth, kRuns);
	EXPECT_LT(tally.width, 2 * plain);
	EXPECT_GE(tally.truth, kRuns * 94 / 100);
}

TEST(SlowChanges, MeansAndPairedDifferencesHoldForAnotherRunToo)
{
	const Tally means = pairs_of_runs(500, [](std::mt19937_64 &random) {
		std::vector<double> sums;
		for (const double shift : moody(random, 0.05, 0.02))
			sums.push_back(50'000 * std::exp(shift));
		return *RedrawnMeans(std::vector<double>(kClusters, 100)).interval(sums);
	});
	EXPECT_LE(means.disjoint, kRuns / 2 * 5 / 100);
	const Tally effects = pairs_of_runs(100, [](std::mt19937_64 &random) {
		std::vector<BlockPair> pairs;
		for (const double shift : moody(random, 5, 2))
			pairs.push_back({8000, 8100 + shift, pairs.size() % 2 == 0, 2.0 * static_cast<double>(pairs.size())});
		return *paired_difference(pairs)->interval;
	});
	EXPECT_LE(effects.disjoint, kRuns / 2 * 5 / 100);
	EXPECT_GE(effects.truth, kRuns * 92 / 100);
}

} // namespace
} // namespace icepath::stats
