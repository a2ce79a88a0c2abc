// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_interval.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <random>

#include "profiler/stats/far_tail.h"
#include "profiler/stats/slow_changes.h"
#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

double below_normal(double z) { return std::erfc(-z / std::sqrt(2)) / 2; }

// Machine-like latencies: messages of a block share a shift and resemble their neighbours.
Blocks simulated(std::mt19937_64 &random, size_t blocks, size_t messages, double between)
{
	std::normal_distribution<double> normal;
	Blocks result(blocks);
	for (auto &block : result) {
		const double shift = between * normal(random);
		double state = normal(random);
		for (size_t i = 0; i < messages; ++i) {
			state = 0.9 * state + std::sqrt(1 - 0.81) * normal(random);
			block.push_back(static_cast<uint64_t>(std::llround(8000 * std::exp(shift + 0.2 * state))));
		}
	}
	return result;
}

// The model's own percentile: a lognormal whose variances add.
double truth(double between, double z) { return 8000 * std::exp(z * std::sqrt(between * between + 0.04)); }

double true_standard_deviation(double between)
{
	const double variance = between * between + 0.04;
	return 8000 * std::exp(variance / 2) * std::sqrt(std::exp(variance) - 1);
}

// Half of the values lie at most this far from the median: by bisection.
double true_median_deviation(double between)
{
	const double sigma = std::sqrt(between * between + 0.04);
	double low = 0, high = 1; // in units of the median
	for (int i = 0; i < 50; ++i) {
		const double middle = (low + high) / 2;
		const double within = below_normal(std::log(1 + middle) / sigma) - below_normal(std::log(1 - middle) / sigma);
		(within < 0.5 ? low : high) = middle;
	}
	return 8000 * high;
}

TEST(BlockInterval, DescribesAllMessages)
{
	const Distribution d = describe({{30, 10, 20}, {}, {40, 50}});
	EXPECT_EQ(d.count, 5u);
	EXPECT_EQ(d.blocks, 2u);
	EXPECT_EQ(d.min, 10u);
	EXPECT_EQ(d.max, 50u);
	EXPECT_DOUBLE_EQ(d.mean, 30);
	EXPECT_DOUBLE_EQ(d.standard_deviation.value(), std::sqrt(250));
	EXPECT_FALSE(d.median_deviation.has_value()) << "without a p50 there is nothing to deviate from";
	for (const auto &percentile : d.percentiles)
		EXPECT_FALSE(percentile.has_value()) << "five values support none";
	EXPECT_EQ(describe({}).count, 0u);
	EXPECT_FALSE(describe({}).standard_deviation.has_value());
	EXPECT_FALSE(describe({{5}}).standard_deviation.has_value()) << "one value has no spread";
	EXPECT_DOUBLE_EQ(describe({{5}, {5}}).standard_deviation.value(), 0);
}

TEST(BlockInterval, PercentilesAreThoseOfAllValuesTogether)
{
	std::mt19937_64 random(3);
	const Blocks blocks = simulated(random, 80, 10'000, 0.1);
	std::vector<uint64_t> all;
	for (const auto &block : blocks)
		all.insert(all.end(), block.begin(), block.end());
	std::sort(all.begin(), all.end());
	const Distribution d = describe(blocks);
	for (size_t q = 0; q < kReported.size(); ++q) {
		if (kReported[q] == kP99_999) { // 8 values lie beyond it
			EXPECT_FALSE(d.percentiles[q].has_value() || d.intervals[q].has_value());
			continue;
		}
		ASSERT_TRUE(d.percentiles[q].has_value());
		EXPECT_EQ(*d.percentiles[q], percentile(all, kReported[q]));
		ASSERT_TRUE(d.intervals[q].has_value());
		EXPECT_LT(d.intervals[q]->low, static_cast<double>(*d.percentiles[q]));
		EXPECT_GT(d.intervals[q]->high, static_cast<double>(*d.percentiles[q]));
	}
}

// Computed by definition, from one list of all values.
TEST(BlockInterval, DeviationsAreThoseOfAllValuesTogether)
{
	std::mt19937_64 random(23);
	const Blocks blocks = simulated(random, 5, 700, 0.3);
	std::vector<uint64_t> all, away;
	for (const auto &block : blocks)
		all.insert(all.end(), block.begin(), block.end());
	std::sort(all.begin(), all.end());
	double mean = 0, squares = 0;
	for (const uint64_t value : all)
		mean += static_cast<double>(value) / static_cast<double>(all.size());
	for (const uint64_t value : all) {
		squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
		const uint64_t p50 = percentile(all, kP50);
		away.push_back(std::max(value, p50) - std::min(value, p50));
	}
	std::sort(away.begin(), away.end());
	const Distribution d = describe(blocks);
	EXPECT_NEAR(d.standard_deviation.value(), std::sqrt(squares / static_cast<double>(all.size() - 1)), 1e-6);
	EXPECT_EQ(d.median_deviation.value(), percentile(away, kP50));
	ASSERT_TRUE(d.standard_deviation_interval && d.median_deviation_interval);
	EXPECT_LT(d.standard_deviation_interval->low, *d.standard_deviation);
	EXPECT_GT(d.standard_deviation_interval->high, *d.standard_deviation);
	EXPECT_LT(d.median_deviation_interval->low, static_cast<double>(*d.median_deviation));
	EXPECT_GT(d.median_deviation_interval->high, static_cast<double>(*d.median_deviation));
}

TEST(BlockInterval, OneSlowMessageIsMuchToTheOneDeviationAndNothingToTheOther)
{
	std::vector<uint64_t> block;
	for (uint64_t i = 0; i < 100; ++i)
		block.push_back(1000 + i % 5 * 10);
	const Blocks steady = {block, block, block};
	Blocks slow = steady;
	slow[1][50] = 1'000'000;
	EXPECT_NEAR(describe(steady).standard_deviation.value(), 14.2, 0.1);
	EXPECT_GT(describe(slow).standard_deviation.value(), 50'000);
	EXPECT_EQ(describe(steady).median_deviation.value(), 10u);
	EXPECT_EQ(describe(slow).median_deviation.value(), 10u);
	const auto wide = describe(slow).standard_deviation_interval;
	ASSERT_TRUE(wide.has_value());
	EXPECT_GT(wide->high / wide->low, 1e6) << "one block of three has all of it";
}

// A worker's stamps may be anything.
TEST(BlockInterval, HugeValuesHaveDeviationsToo)
{
	std::vector<uint64_t> block(50, UINT64_MAX);
	block.resize(101, 0);
	const Distribution d = describe({block, block, block});
	EXPECT_EQ(d.percentiles[0], 0u);
	EXPECT_EQ(d.median_deviation, 0u);
	block[60] = UINT64_MAX;
	EXPECT_EQ(describe({block, block, block}).percentiles[0], UINT64_MAX);
	EXPECT_EQ(describe({block, block, block}).median_deviation, 0u);
	std::vector<uint64_t> thirds;
	for (int i = 0; i < 30; ++i)
		thirds.insert(thirds.end(), {0, UINT64_MAX / 2, UINT64_MAX});
	EXPECT_EQ(describe({thirds, thirds, thirds}).median_deviation, UINT64_MAX / 2);
}

TEST(BlockInterval, TwoBlocksGiveNoInterval)
{
	const std::vector<uint64_t> block(1000, 5);
	EXPECT_FALSE(describe({block, block}).intervals[0].has_value());
	EXPECT_FALSE(describe({block, block}).percentiles[0].has_value()) << "none without its interval";
	EXPECT_TRUE(describe({block, block, block}).intervals[0].has_value());
	EXPECT_FALSE(describe({block, block, {}}).intervals[0].has_value()) << "an empty block is none";
	EXPECT_FALSE(describe({block, block, block}).intervals[3].has_value()) << "p99.9 needs 10000 messages";
}

TEST(BlockInterval, BlocksThatAreAllAlikeGiveAPoint)
{
	const std::vector<uint64_t> block(1000, 7);
	const Distribution d = describe({block, block, block, block});
	EXPECT_DOUBLE_EQ(d.intervals[0]->low, 7);
	EXPECT_DOUBLE_EQ(d.intervals[0]->high, 7);
	EXPECT_EQ(d.median_deviation, 0u);
	ASSERT_TRUE(d.standard_deviation_interval && d.median_deviation_interval);
	EXPECT_EQ(d.standard_deviation_interval->high, 0);
	EXPECT_EQ(d.median_deviation_interval->high, 0);
}

// Four blocks of a paced sender, half of them late throughout: the p50's interval goes far beyond any measured value.
// Omitting such intervals would keep those that are narrow by luck.
TEST(BlockInterval, BlocksThatTellLittleGiveAWideInterval)
{
	std::vector<uint64_t> early(100, 150), late(100, 40'000'000);
	const Distribution d = describe({early, late, early, late});
	ASSERT_TRUE(d.percentiles[0] && d.intervals[0]);
	EXPECT_LT(d.intervals[0]->low, 15);
	EXPECT_GT(d.intervals[0]->high, 40'000'000);
	EXPECT_TRUE(std::isfinite(d.intervals[0]->high));
	const Distribution eight = describe({early, late, early, late, early, late, early, late});
	EXPECT_EQ(eight.intervals[0]->low, 150) << "eight tell enough for an interval of measured values";
	EXPECT_EQ(eight.intervals[0]->high, 40'000'000);
	for (size_t q = 0; q < kReported.size(); ++q)
		EXPECT_EQ(d.percentiles[q].has_value(), d.intervals[q].has_value());
}

// Of blocks whose slowest messages differ by far, while the others are alike.
TEST(BlockInterval, NoneBeginsBeforeThatOfASmallerPercentile)
{
	Blocks blocks;
	for (uint64_t block = 0; block < 5; ++block) {
		blocks.emplace_back(1960, 1000 + block);
		blocks.back().insert(blocks.back().end(), 40, block == 0 ? 1'000'000 : 1010);
	}
	const Distribution d = describe(blocks);
	ASSERT_TRUE(d.intervals[2]) << "p99";
	EXPECT_GT(d.intervals[2]->high, 2 * d.intervals[2]->low) << "it is wide";
	EXPECT_GE(d.intervals[2]->low, d.intervals[0]->low);
}

BlockValues values_of(const Blocks &blocks)
{
	BlockValues values;
	for (uint32_t block = 0; block < blocks.size(); ++block)
		values.add(blocks[block], block);
	return values;
}

// One percentile has one interval, whoever asks for it.
TEST(BlockInterval, OfAPercentileByItselfIsTheReportedOne)
{
	Blocks blocks;
	for (uint64_t block = 0; block < 5; ++block) {
		blocks.emplace_back(1960, 1000 + block);
		blocks.back().insert(blocks.back().end(), 40, block == 0 ? 1'000'000 : 1010);
	}
	const BlockValues values = values_of(blocks);
	const Distribution all = describe(values, ClusteredBy::Block);
	for (const size_t q : {0, 1, 2}) {
		const auto alone = quantile(values, kReported[q], ClusteredBy::Block, all);
		ASSERT_TRUE(alone && alone->interval && all.intervals[q]) << q;
		EXPECT_EQ(alone->value, all.percentiles[q]);
		EXPECT_EQ(alone->interval->low, all.intervals[q]->low) << q;
		EXPECT_EQ(alone->interval->high, all.intervals[q]->high) << q;
	}
	const auto unreported = quantile(values, Percentile{98'500}, ClusteredBy::Block, all);
	ASSERT_TRUE(unreported && unreported->interval);
	EXPECT_GT(unreported->interval->high, 2 * unreported->interval->low) << "it is wide";
	EXPECT_GE(unreported->interval->low, all.intervals[0]->low) << "of one that isn't reported";
}

TEST(BlockInterval, NothingIsOnlyCertainWhereAllBlocksSayIt)
{
	const std::vector<uint64_t> zeros(100, 0), some(100, 20);
	const Distribution unsure = describe({zeros, zeros, zeros, some});
	ASSERT_TRUE(unsure.intervals[0].has_value());
	EXPECT_EQ(unsure.intervals[0]->low, 0);
	EXPECT_GT(unsure.intervals[0]->high, 1);
	const Distribution d = describe({zeros, zeros, zeros});
	ASSERT_TRUE(d.intervals[0].has_value());
	EXPECT_EQ(d.intervals[0]->high, 0);
}

TEST(BlockInterval, BlocksCountAndNotMessages)
{
	// All spread is between blocks, so more messages in each must not narrow the interval.
	std::mt19937_64 random(11);
	const Blocks small = simulated(random, 6, 200, 0.1);
	Blocks large = small;
	for (auto &block : large)
		for (int i = 0; i < 9; ++i)
			block.insert(block.end(), block.begin(), block.begin() + 200);
	const Interval a = *describe(small).intervals[0], b = *describe(large).intervals[0];
	EXPECT_NEAR(b.high - b.low, a.high - a.low, 0.02 * (a.high - a.low));
}

// Noise fills a CPU's log and ends its block early, so it counts for less in a mean over messages.
TEST(MeanByBlock, HasTheNoiseThatEndsBlocksEarly)
{
	std::mt19937_64 random(41);
	Blocks blocks;
	double truth = 0;
	for (int b = 0; b < 2000; ++b) {
		const bool noisy = random() % 5 == 0;
		const uint64_t interrupts = noisy ? 40 : 1; // per message: one record and 100 ns each
		blocks.emplace_back(std::min<uint64_t>(1000, 12'000 / (5 + interrupts)), 100 * interrupts);
		truth += static_cast<double>(100 * interrupts) / 2000;
	}
	blocks.emplace_back(); // none of its messages arrived
	const Distribution d = describe(blocks);
	EXPECT_NEAR(d.mean_by_block, truth, 1e-6);
	EXPECT_LT(d.mean, 0.5 * truth);
	EXPECT_EQ(describe({{}, {}}).mean_by_block, 0);
	EXPECT_DOUBLE_EQ(describe({{1, 2}, {3, 4}}).mean_by_block, 2.5);
}

TEST(BlockInterval, IsTheSameEveryTime)
{
	std::mt19937_64 random(5);
	const Blocks blocks = simulated(random, 8, 300, 0.05);
	const Distribution a = describe(blocks), b = describe(blocks);
	EXPECT_EQ(a.intervals[0]->low, b.intervals[0]->low);
	EXPECT_EQ(a.intervals[1]->high, b.intervals[1]->high);
}

struct CoverageCase {
	size_t blocks;
	double between;
	// percent, for p99 and standard deviation; see block_interval.h: few blocks that differ much don't show their own
	// tail
	int tail_at_least;
};
class Coverage : public testing::TestWithParam<CoverageCase> {};

// 400 runs of a known machine: the number of intervals that contain the truth. The bounds are 95 % ± about four
// standard deviations of that number, wider where few blocks make the estimated spread poor. With blocks enough for
// eight stretches, slow changes are never ruled out, and more than 99 % hold.
TEST_P(Coverage, HoldsTheTruthNineteenTimesInTwenty)
{
	const auto [blocks, between, tail_at_least] = GetParam();
	constexpr int kRuns = 400;
	std::mt19937_64 random(17);
	const auto holds = [](const std::optional<Interval> &interval, double truth) {
		return interval && interval->low <= truth && truth <= interval->high;
	};
	int p50 = 0, p99 = 0, p99_shown = 0, sd = 0, mad = 0;
	for (int run = 0; run < kRuns; ++run) {
		const Distribution d = describe(simulated(random, blocks, std::max<size_t>(400, 1000 / blocks + 1), between));
		p50 += holds(d.intervals[0], truth(between, 0));
		p99 += holds(d.intervals[2], truth(between, 2.3263));
		p99_shown += d.percentiles[2].has_value();
		sd += holds(d.standard_deviation_interval, true_standard_deviation(between));
		mad += holds(d.median_deviation_interval, true_median_deviation(between));
	}
	RecordProperty("sd", sd);
	RecordProperty("mad", mad);
	RecordProperty("p50", p50);
	RecordProperty("p99", p99);
	EXPECT_GE(p50, kRuns * 90 / 100);
	const int most = blocks < 2 * kStretches ? kRuns * 99 / 100 : kRuns;
	EXPECT_LE(p50, most);
	std::printf("%zu blocks: p99 shown %d, held %d of %d\n", blocks, p99_shown, p99, kRuns);
	EXPECT_GE(p99, p99_shown * tail_at_least / 100);
	EXPECT_EQ(p99_shown > 0, blocks >= kBlocksBeyond);
	EXPECT_GE(sd, kRuns * tail_at_least / 100);
	EXPECT_LE(sd, most);
	EXPECT_GE(mad, kRuns * 84 / 100);
	EXPECT_LE(mad, most);
}
INSTANTIATE_TEST_SUITE_P(Runs, Coverage,
						 testing::Values(CoverageCase{3, 0.03, 88}, CoverageCase{5, 0.03, 88},
										 CoverageCase{10, 0.03, 88}, CoverageCase{20, 0.1, 83},
										 CoverageCase{10, 0.2, 75}),
						 [](const auto &spec) {
							 return std::to_string(spec.param.blocks) + "Blocks" +
									std::to_string(static_cast<int>(spec.param.between * 100));
						 });

// Counter-test: intervals over messages of the same runs claim too much.
TEST(Coverage, MessagesAsEvidenceWouldClaimTooMuch)
{
	constexpr int kRuns = 200;
	std::mt19937_64 random(19);
	int held = 0;
	for (int run = 0; run < kRuns; ++run) {
		std::vector<uint64_t> all;
		for (const auto &block : simulated(random, 10, 400, 0.1))
			all.insert(all.end(), block.begin(), block.end());
		std::sort(all.begin(), all.end());
		// Order statistics around the median, as for independent values.
		const auto half = static_cast<size_t>(1.96 * std::sqrt(static_cast<double>(all.size())) / 2);
		const double t = truth(0.1, 0);
		held += static_cast<double>(all[all.size() / 2 - half]) <= t &&
				t <= static_cast<double>(all[all.size() / 2 + half]);
	}
	EXPECT_LT(held, kRuns / 2);
}

} // namespace
} // namespace icepath::stats
