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

// The lower tercile of s >= 0 after r is known, by adding up the density on a fine grid of log (1 + s).
double tercile_of_own_variance(double r, double d)
{
	constexpr double kStep = 1e-4;
	std::vector<double> sums;
	for (double log = kStep / 2, sum = 0; log < 20; log += kStep)
		sums.push_back(sum += std::exp(-d / 2 * (log + r * std::exp(-log))));
	const auto third = std::ranges::lower_bound(sums, sums.back() / 3);
	return std::exp(static_cast<double>(third - sums.begin()) * kStep) - 1;
}

TEST(SlowChanges, AddWhatStretchesMayHaveOfTheirOwn)
{
	for (const double r : {0.1, 0.5, 1.0, 3.0, 30.0}) {
		const double slow = 8 * 16 / (16 - 8.0) * 4 * tercile_of_own_variance(r, 7);
		const Spread spread = with_slow_changes(4, 15, 16, 4 * r, 8);
		EXPECT_NEAR(spread.variance, 4 + slow, 0.001 * slow) << r;
		const double sum = spread.variance;
		EXPECT_NEAR(spread.freedom, sum * sum / (16 / 15.0 + slow * slow / 7), 0.01 * spread.freedom) << r;
		EXPECT_DOUBLE_EQ(spread.half_width(), t_975(spread.freedom) * std::sqrt(sum));
	}
	EXPECT_GT(with_slow_changes(4, 15, 16, 0, 8).variance, 4) << "eight equal stretches don't prove that all are";
	EXPECT_EQ(with_slow_changes(0, 15, 16, 0, 8).variance, 0);
	// 4 · (8 - 4) · 12 / (12 - 4) = 24.
	EXPECT_DOUBLE_EQ(with_slow_changes(4, 11, 12, 8, 4).variance, 4 + 24) << "of four stretches the estimate itself";
	EXPECT_DOUBLE_EQ(with_slow_changes(4, 11, 12, 3, 4).variance, 4);
	EXPECT_DOUBLE_EQ(with_slow_changes(4, 9, 7, 0, 0).half_width(), 2 * t_975(9)) << "too few for stretches";
}

constexpr size_t kClusters = 40;

// Each cluster's offset on the logarithm: the machine stays in one mood for about a fifth of a run, from any point, and
// each cluster adds chance. A mood lasts from one run to the next, too.
class MoodyMachine {
public:
	MoodyMachine(double mood_sd, double chance_sd, size_t clusters_of_mood = kClusters / 5)
		: mood_sd_(mood_sd), chance_sd_(chance_sd), clusters_of_mood_(clusters_of_mood)
	{}

	std::vector<double> run(std::mt19937_64 &random)
	{
		std::normal_distribution<double> normal;
		std::vector<double> clusters;
		for (size_t i = 0; i < kClusters; ++i) {
			if (!mood_ || random() % clusters_of_mood_ == 0)
				mood_ = mood_sd_ * normal(random);
			clusters.push_back(*mood_ + chance_sd_ * normal(random));
		}
		return clusters;
	}

private:
	double mood_sd_, chance_sd_;
	size_t clusters_of_mood_;
	std::optional<double> mood_;
};

std::vector<std::vector<uint64_t>> messages_of(std::mt19937_64 &random, const std::vector<double> &clusters)
{
	std::normal_distribution<double> normal;
	std::vector<std::vector<uint64_t>> blocks;
	for (const double shift : clusters)
		for (std::vector<uint64_t> &block = blocks.emplace_back(); block.size() < 100;)
			block.push_back(static_cast<uint64_t>(std::llround(8000 * std::exp(shift + 0.1 * normal(random)))));
	return blocks;
}

struct PairTally {
	int disjoint = 0, truth = 0;
	double width = 0; // mean
};

constexpr int kPairs = 400;

template <typename IntervalOf> PairTally pairs_of_runs(double truth, const IntervalOf &interval_of)
{
	std::mt19937_64 random(31);
	PairTally tally;
	std::optional<Interval> before;
	for (int run = 0; run < kPairs; ++run) {
		const Interval interval = interval_of(random);
		tally.truth += interval.low <= truth && truth <= interval.high;
		tally.width += (interval.high - interval.low) / kPairs;
		if (run % 2)
			tally.disjoint += interval.high < before->low || before->high < interval.low;
		before = interval;
	}
	return tally;
}

PairTally of_p50s(MoodyMachine machine, bool in_order)
{
	return pairs_of_runs(8000, [&](std::mt19937_64 &random) {
		std::vector<double> clusters = machine.run(random);
		if (!in_order)
			std::ranges::shuffle(clusters, random);
		return *describe(messages_of(random, clusters)).intervals[0];
	});
}

TEST(SlowChanges, P50sOfAMoodyMachineHoldForAnotherRun)
{
	const PairTally tally = of_p50s(MoodyMachine(0.05, 0.02), true);
	std::printf("moody: %d of %d pairs disjoint, %d of %d hold the truth\n", tally.disjoint, kPairs / 2, tally.truth,
				kPairs);
	EXPECT_LE(tally.disjoint, kPairs / 2 * 3 / 100);
	EXPECT_GE(tally.truth, kPairs * 90 / 100);
}

// Most runs see one mood or two, and mostly can't tell them from chance.
TEST(SlowChanges, P50sHoldForAnotherRunAlsoWhereMoodsLastAsLongAsARun)
{
	const PairTally tally = of_p50s(MoodyMachine(0.01, 0.02, kClusters), true);
	std::printf("a mood a run: %d of %d pairs disjoint, %d of %d hold the truth\n", tally.disjoint, kPairs / 2,
				tally.truth, kPairs);
	EXPECT_LE(tally.disjoint, kPairs / 2 * 3 / 100);
	EXPECT_GE(tally.truth, kPairs * 85 / 100);
}

// Counter-test: out of order, moods look like chance.
TEST(SlowChanges, WithoutTheOrderOfClustersTheyDoNot)
{
	const PairTally tally = of_p50s(MoodyMachine(0.05, 0.02), false);
	EXPECT_GE(tally.disjoint, kPairs / 2 * 8 / 100);
	EXPECT_LE(tally.truth, kPairs * 85 / 100);
}

// The cost of the caution if nothing changes slowly.
TEST(SlowChanges, OfAMachineWithoutMoodsIntervalsAreNotMuchWider)
{
	const PairTally tally = of_p50s(MoodyMachine(0, 0.05), true);
	const double plain = 2 * 8000 * t_975(kClusters - 1) * std::hypot(0.05, 0.1 * 1.2533 / 10) / std::sqrt(kClusters);
	std::printf("steady: %.2f times as wide, %d of %d hold the truth\n", tally.width / plain, tally.truth, kPairs);
	EXPECT_LT(tally.width, 2.6 * plain);
	EXPECT_GE(tally.truth, kPairs * 94 / 100);
}

TEST(SlowChanges, MeansAndPairedDifferencesHoldForAnotherRunToo)
{
	const PairTally means = pairs_of_runs(500, [](std::mt19937_64 &random) {
		std::vector<double> sums;
		for (const double shift : MoodyMachine(0.05, 0.02).run(random))
			sums.push_back(50'000 * std::exp(shift));
		return *RedrawnMeans(std::vector<double>(kClusters, 100)).interval(sums);
	});
	EXPECT_LE(means.disjoint, kPairs / 2 * 5 / 100);
	const PairTally effects = pairs_of_runs(100, [](std::mt19937_64 &random) {
		std::vector<BlockPair> pairs;
		for (const double shift : MoodyMachine(5, 2).run(random))
			pairs.push_back({8000, 8100 + shift, pairs.size() % 2 == 0, 2.0 * static_cast<double>(pairs.size())});
		return *paired_difference(pairs)->interval;
	});
	EXPECT_LE(effects.disjoint, kPairs / 2 * 5 / 100);
	EXPECT_GE(effects.truth, kPairs * 92 / 100);
}

} // namespace
} // namespace icepath::stats
