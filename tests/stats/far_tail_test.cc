// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/far_tail.h"

#include <gtest/gtest.h>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/distributions.h"
#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

constexpr size_t kP99At = 2, kP99_9At = 3;
static_assert(kReported[kP99At] == kP99 && kReported[kP99_9At] == kP99_9);

TEST(Poisson, IsThatOfTheTables)
{
	EXPECT_NEAR(poisson_at_most(0, 3.688879), 0.025, 1e-6);
	EXPECT_NEAR(poisson_at_most(2, 3), 0.423190, 1e-6);
	EXPECT_NEAR(poisson_at_least(3, 3), 1 - 0.423190, 1e-6);
	EXPECT_EQ(poisson_at_least(0, 3), 1);
}

// The last messages of some blocks are slow.
Blocks with_slow(size_t blocks, size_t messages, size_t slow_blocks, size_t slow)
{
	Blocks run(blocks, std::vector<uint64_t>(messages, 1000));
	for (size_t b = 0; b < slow_blocks; ++b)
		for (size_t i = 0; i < slow; ++i)
			run[b][messages - 1 - i] = 50'000 + 10 * i + b;
	return run;
}

TEST(EnoughBeyond, AsksForFiveBlocks)
{
	EXPECT_EQ(blocks_beyond(RedrawnRun(kept_values(with_slow(10, 400, 4, 10))), kP99), 4u);
	EXPECT_FALSE(describe(with_slow(10, 400, 4, 10)).percentiles[kP99At].has_value());
	EXPECT_TRUE(describe(with_slow(10, 400, 5, 8)).percentiles[kP99At].has_value());
	EXPECT_TRUE(describe(with_slow(10, 400, 4, 10)).percentiles[0].has_value()) << "half of all messages lie beyond it";
	EXPECT_TRUE(describe(with_slow(3, 400, 0, 0)).percentiles[0].has_value());
	EXPECT_FALSE(describe(with_slow(4, 1000, 4, 10)).percentiles[kP99At].has_value()) << "four blocks are no five";
}

TEST(EnoughBeyond, EqualValuesLieInAllBlocksThatHaveThem)
{
	EXPECT_EQ(blocks_beyond(RedrawnRun(kept_values(Blocks(20, std::vector<uint64_t>(100, 7)))), kP99), 20u);
}

TEST(EnoughBeyond, FarPercentilesNeedMessagesAndBlocks)
{
	const auto told = [](size_t blocks, size_t messages, size_t slow) {
		return describe(with_slow(blocks, messages, blocks, slow)).percentiles[kP99_9At].has_value();
	};
	EXPECT_TRUE(told(75, 1000, 1));
	EXPECT_FALSE(told(74, 1000, 1));
	EXPECT_FALSE(told(75, 999, 1));
	EXPECT_FALSE(told(74, 3000, 1)) << "as many messages in fewer blocks";
	EXPECT_FALSE(describe(with_slow(100, 1000, 4, 25)).percentiles[kP99_9At].has_value()) << "of four stalls";
}

// What the same processes measured is one piece of evidence.
TEST(EnoughBeyond, FarOnesLieInSeveralClusters)
{
	const Blocks run = with_slow(100, 1000, 100, 1);
	std::vector<uint32_t> many(100), few(100);
	for (uint32_t b = 0; b < 100; ++b) {
		many[b] = b / 4;
		few[b] = b / 25;
	}
	EXPECT_TRUE(describe(run, many).percentiles[kP99_9At].has_value());
	EXPECT_FALSE(describe(run, few).percentiles[kP99_9At].has_value());
	EXPECT_TRUE(describe(run, few).percentiles[kP99At].has_value());
}

// If a few stalls made all values beyond the percentile, it isn't known which percentile the largest one is.
TEST(FarInterval, HasNoUpperEndWhereNothingMeasuredIsOne)
{
	Blocks run = with_slow(100, 1000, 5, 5);
	for (size_t i = 0; i < 80; ++i)
		run[50][i] = 60'000 + i;
	const RedrawnRun pool(kept_values(run));
	ASSERT_TRUE(enough_beyond(pool, kP99_9, numbered({}, 100)));
	EXPECT_FALSE(far_interval(pool, kP99_9, numbered({}, 100)).has_value());
	EXPECT_FALSE(describe(run).percentiles[kP99_9At].has_value()) << "never without its interval";
	const auto of_many = far_interval(RedrawnRun(kept_values(with_slow(100, 1000, 100, 2))), kP99_9, numbered({}, 100));
	ASSERT_TRUE(of_many.has_value());
	EXPECT_LE(of_many->low, 50'100);
	EXPECT_GE(of_many->high, 50'000);
}

struct Shown {
	int shown = 0, held = 0;
	double share(int runs) const { return static_cast<double>(shown) / runs; }
	double coverage() const { return static_cast<double>(held) / shown; }
};

// The decision of describe(), without its other results.
std::optional<Interval> told_p99_9(const RedrawnRun &pool, bool at_any_length)
{
	const Clusters blocks = numbered({}, pool.blocks());
	const bool is_told = at_any_length ? supported(pool.values(), kP99_9) && blocks_beyond(pool, kP99_9) >= 5
									   : enough_beyond(pool, kP99_9, blocks);
	return is_told ? far_interval(pool, kP99_9, blocks) : std::nullopt;
}

Shown simulate(const StallingMachine &machine, size_t blocks, int runs, bool at_any_length = false)
{
	const double truth = machine.true_p99_9();
	std::mt19937_64 random(31);
	Shown counted;
	for (int run = 0; run < runs; ++run)
		if (const auto interval = told_p99_9(RedrawnRun(kept_values(machine.run(random, blocks))), at_any_length)) {
			++counted.shown;
			counted.held += interval->low <= truth && truth <= interval->high;
		}
	return counted;
}

class StallCoverage : public testing::TestWithParam<StallingMachine> {};

// With a stall in every tenth block, 37 % of the runs of 10 blocks and 5 % of those of 30 meet none: they report no
// p99.9.
TEST_P(StallCoverage, NineOfTenIntervalsThatAreShownHoldTheTruth)
{
	const int runs = runs_to_simulate(100);
	for (const size_t blocks : {10u, 30u})
		EXPECT_EQ(simulate(GetParam(), blocks, 20).shown, 0) << blocks;
	const Shown far = simulate(GetParam(), 100, runs);
	RecordProperty("shown", far.shown);
	RecordProperty("held", far.held);
	std::printf("%s: %d of %d shown, %.1f %% of them hold the truth\n", GetParam().name.c_str(), far.shown, runs,
				100 * far.coverage());
	EXPECT_GT(far.share(runs), 0.3);
	EXPECT_GE(far.coverage(), 0.9);
}
INSTANTIATE_TEST_SUITE_P(Machines, StallCoverage,
						 testing::Values(StallingMachine{"NoStall"}, StallingMachine{"OneInTenBlocks", 0.1},
										 StallingMachine{"OneInTenBlocksAllAlike", 0.1, 20, 0, false},
										 StallingMachine{"OneInTenBlocksWithinEach", 0.1, 20, 0.5, false},
										 StallingMachine{"OneInTwentyBlocks", 0.05},
										 StallingMachine{"OneInThreeBlocksVeryUnlike", 0.33, 20, 1},
										 StallingMachine{"OneInTwentyBlocksLong", 0.05, 50},
										 StallingMachine{"OneInEachBlockShort", 1, 5}),
						 [](const auto &machine) { return machine.param.name; });

// Counter-test for the minimum length: with enough blocks beyond but no required length, intervals claim too much.
TEST(StallCoverage, ShortRunsWouldClaimTooMuch)
{
	const Shown at_ten = simulate({"", 0.1}, 10, 300, true), at_thirty = simulate({"", 0.1}, 30, 150, true);
	EXPECT_GT(at_ten.shown, 10);
	EXPECT_LT(at_ten.coverage(), 0.5);
	EXPECT_GT(at_thirty.shown, 10);
	EXPECT_LT(at_thirty.coverage(), 0.8);
}

} // namespace
} // namespace icepath::stats
