// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/far_tail.h"
#include "profiler/stats/redrawn_run.h"
#include "tests/stats/simulated_runs.h"

namespace icepath::stats {
namespace {

constexpr size_t kValues = 500; // of a block
constexpr size_t kMost = 100 * kValues;
constexpr double kOff = 0.0005; // of a value, by docs/method.md

constexpr double kOfOpenings = 0.05, kOfMessages = 0.3; // spreads, on the logarithm

// Log-normal around 10 µs, with a luck of each opening.
Blocks simulated(std::mt19937_64 &random, size_t blocks, size_t blocks_of_opening, size_t values)
{
	std::normal_distribution<double> luck(0, kOfOpenings), of_message(0, kOfMessages);
	Blocks run;
	double opening = 0;
	for (size_t i = 0; i < blocks; ++i) {
		if (i % blocks_of_opening == 0)
			opening = luck(random);
		std::vector<uint64_t> &block = run.emplace_back();
		for (size_t n = 0; n < values; ++n)
			block.push_back(static_cast<uint64_t>(10'000 * std::exp(opening + of_message(random))));
	}
	return run;
}

Blocks latencies(size_t blocks)
{
	std::mt19937_64 random(7);
	return simulated(random, blocks, 10, kValues);
}

BlockValues values_of(const Blocks &blocks, size_t most, size_t blocks_of_opening = 10)
{
	BlockValues values(most);
	for (size_t i = 0; i < blocks.size(); ++i)
		values.add(blocks[i], static_cast<uint32_t>(i / blocks_of_opening));
	return values;
}

std::vector<uint64_t> sorted(const Blocks &blocks)
{
	std::vector<uint64_t> all;
	for (const auto &block : blocks)
		all.insert(all.end(), block.begin(), block.end());
	std::ranges::sort(all);
	return all;
}

TEST(BlockValues, UpToTheLimitEachIsKept)
{
	const Blocks blocks = latencies(kMost / kValues);
	const BlockValues values = values_of(blocks, kMost);
	EXPECT_TRUE(values.is_exact());
	ASSERT_EQ(values.blocks().size(), blocks.size());
	for (size_t i = 0; i < blocks.size(); ++i)
		EXPECT_TRUE(std::ranges::equal(values.blocks()[i].values, blocks[i]));
	EXPECT_FALSE(values_of(latencies(kMost / kValues + 1), kMost).is_exact());
}

// At most 255 blocks, each with no more buckets than its range has: three octaves of 1024.
TEST(BlockValues, WhatIsKeptDoesNotGrowWithTheRun)
{
	for (const size_t blocks : {1000, 4000}) {
		const BlockValues values = values_of(latencies(blocks), kMost);
		EXPECT_LT(values.blocks().size(), 2 * BlockValues::kLeastBlocks) << blocks;
		EXPECT_GE(values.blocks().size(), BlockValues::kLeastBlocks) << blocks;
		EXPECT_LT(values.kept(), 2 * BlockValues::kLeastBlocks * 3 * 1024) << blocks;
		EXPECT_EQ(values.measured_blocks(), blocks);
		EXPECT_EQ(values.count(), blocks * kValues);
	}
}

// By the definition of a percentile, over all values.
// Each block keeps what its few values share with others.
TEST(BlockValues, WhatTheirOwnersKeepCounts)
{
	BlockValues few(kMost);
	size_t blocks = 0;
	for (; few.is_exact(); ++blocks) {
		ASSERT_LE(blocks * kValues, kMost);
		const auto owner = std::make_shared<const std::vector<uint64_t>>(kValues, 10'000);
		few.add(owner, std::span(*owner).first(5), 0);
	}
	EXPECT_EQ(few.count(), 5 * blocks);
	EXPECT_EQ(few.kept(), blocks) << "a bucket of each";
}

TEST(BlockValues, PercentilesOfALongRunAreOffByLessThanItsHistogramsResolution)
{
	const Blocks blocks = latencies(2000);
	const std::vector<uint64_t> all = sorted(blocks);
	const Distribution told = describe(values_of(blocks, kMost), ClusteredBy::Opening);
	EXPECT_EQ(told.count, all.size());
	EXPECT_EQ(told.blocks, blocks.size());
	EXPECT_EQ(told.min, all.front());
	EXPECT_EQ(told.max, all.back());
	size_t told_percentiles = 0;
	for (size_t q = 0; q < kReported.size(); ++q) {
		if (!told.percentiles[q])
			continue;
		++told_percentiles;
		const auto rank =
			static_cast<size_t>(std::ceil(static_cast<double>(all.size()) * kReported[q].per_100000 / 100'000));
		const auto truth = static_cast<double>(all[rank - 1]);
		EXPECT_NEAR(static_cast<double>(*told.percentiles[q]), truth, kOff * truth) << "percentile " << q;
	}
	EXPECT_GE(told_percentiles, 4u);
	double mean = 0, squares = 0;
	for (const uint64_t value : all)
		mean += static_cast<double>(value) / static_cast<double>(all.size());
	for (const uint64_t value : all)
		squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
	EXPECT_NEAR(told.mean, mean, 1e-9 * mean);
	const double deviation = std::sqrt(squares / static_cast<double>(all.size() - 1));
	EXPECT_NEAR(*told.standard_deviation, deviation, 1e-9 * deviation);
}

// Of 200 openings, with ten blocks each, 128 blocks or more are left: what they say of the spread is as good.
TEST(BlockValues, IntervalsOfALongRunAreLikeThoseOfAllItsValues)
{
	const Blocks blocks = latencies(2000);
	const BlockValues few = values_of(blocks, kMost), all = values_of(blocks, SIZE_MAX);
	ASSERT_LT(few.blocks().size(), 2000u);
	const auto width = [](const BlockValues &values, size_t q) {
		const auto interval = describe(values, ClusteredBy::Opening).intervals[q];
		return interval ? interval->high - interval->low : 0;
	};
	for (const size_t q : {0, 1, 2})
		EXPECT_NEAR(std::log(width(few, q) / width(all, q)), 0, std::log(1.4)) << "percentile " << q;
}

TEST(BlockValues, BlocksOfOneOpeningAreJoinedFirst)
{
	const BlockValues joined = values_of(latencies(1500), kMost); // of 150 openings
	ASSERT_LT(joined.blocks().size(), 1500u);
	ASSERT_GE(joined.blocks().size(), 150u);
	std::vector<uint32_t> openings = joined.openings();
	openings.erase(std::unique(openings.begin(), openings.end()), openings.end());
	EXPECT_EQ(openings.size(), 150u);
	uint64_t count = 0;
	for (const BlockValues::Block &block : joined.blocks()) {
		EXPECT_LE(block.count(), 10 * kValues) << "of one opening";
		count += block.count();
	}
	EXPECT_EQ(count, 1500 * kValues);
}

// By blocks within openings first, then by openings: however many more follow, none is more evidence than another.
TEST(BlockValues, JoinedBlocksAreAlikeAtAnyTime)
{
	constexpr size_t kOpening = 10;
	const Blocks blocks = latencies(6000);
	BlockValues values(kMost);
	for (size_t i = 0; i < blocks.size(); ++i) {
		values.add(blocks[i], static_cast<uint32_t>(i / kOpening));
		if (i % 97 != 0 || values.blocks().size() < 2)
			continue;
		const auto whole = std::span(values.blocks()).first(values.blocks().size() - 1);
		const size_t openings = whole.front().openings;
		for (const BlockValues::Block &block : whole) {
			ASSERT_EQ(block.openings, openings) << i;
			ASSERT_EQ(block.opening % openings, 0u) << i;
			ASSERT_LE(block.blocks, kOpening * openings) << i;
		}
		if (openings > 1) {
			for (const BlockValues::Block &block : whole)
				ASSERT_EQ(block.blocks, kOpening * openings) << i;
		}
	}
	EXPECT_GE(values.blocks().front().openings, 4u) << "of 600 openings";
	EXPECT_GE(values.blocks().size(), BlockValues::kLeastBlocks);
	EXPECT_LT(values.blocks().size(), 2 * BlockValues::kLeastBlocks);
}

double mean_of_means(const Blocks &blocks)
{
	double sum = 0;
	for (const auto &block : blocks)
		sum += std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(block.size());
	return sum / static_cast<double>(blocks.size());
}

TEST(BlockValues, MeansOfBlocksAreOfThoseThatWereMeasured)
{
	Blocks blocks = latencies(1500);
	for (size_t i = 0; i < blocks.size(); i += 3)
		blocks[i].resize(100);
	const Distribution told = describe(values_of(blocks, kMost), ClusteredBy::Block);
	EXPECT_NEAR(told.mean_by_block, mean_of_means(blocks), 1e-9 * told.mean);
	EXPECT_NE(told.mean_by_block, told.mean);
}

TEST(BlockValues, DeviationsFromTheMedianAreOffAsTheirDistributionSays)
{
	const Blocks blocks = latencies(2000);
	std::vector<uint64_t> all = sorted(blocks);
	const uint64_t p50 = all[all.size() / 2 - 1];
	for (uint64_t &value : all)
		value = std::max(value, p50) - std::min(value, p50);
	std::ranges::sort(all);
	const auto mad = static_cast<double>(all[all.size() / 2 - 1]);
	const Distribution told = describe(values_of(blocks, kMost), ClusteredBy::Opening);
	EXPECT_NEAR(static_cast<double>(*told.median_deviation), mad, told.off * (2 * static_cast<double>(p50) + mad));
	EXPECT_EQ(told.off, kOff);
	EXPECT_EQ(describe(blocks).off, 0);
}

// On a coarse clock all values are in one bucket: each block has its part of the slowest.
TEST(BlockValues, ValuesOfABucketLieBeyondInAllBlocksThatHaveThem)
{
	BlockValues values(1000);
	for (size_t i = 0; i < 150; ++i)
		values.add(std::vector<uint64_t>(20 + i % 7, 30'000), static_cast<uint32_t>(i));
	ASSERT_FALSE(values.is_exact());
	const RedrawnRun run(values);
	ASSERT_EQ(run.blocks(), 150u);
	EXPECT_GE(blocks_beyond(run, kP99), 30u) << "of which there are 34 messages";
	std::vector<uint64_t> counts(run.blocks()), first_half(run.blocks());
	for (size_t i = 0; i < run.values(); ++i) {
		++counts[run.block_at(i)];
		first_half[run.block_at(i)] += i < run.values() / 2;
	}
	for (size_t block = 0; block < counts.size(); ++block) {
		EXPECT_EQ(counts[block], run.values_of(block)) << block;
		EXPECT_NEAR(static_cast<double>(first_half[block]), static_cast<double>(counts[block]) / 2, 3) << block;
	}
}

struct Held {
	int p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, sd = 0, mad = 0;
};

struct LongRun {
	const char *name;
	size_t blocks, blocks_of_opening;
};
class LongRunCoverage : public testing::TestWithParam<LongRun> {};

// 100 runs, of which a twentieth of the values could be kept. The truth is that of a log-normal distribution. Intervals
// of all values of the same runs hold it as often, so what is left out doesn't matter.
TEST_P(LongRunCoverage, HoldsTheTruthAsOftenAsThatOfAllValues)
{
	const auto [name, blocks, blocks_of_opening] = GetParam();
	constexpr size_t kValuesOfBlock = 200; // a p99.9 takes 75,000
	const int runs = runs_to_simulate(100);
	const double spread = std::hypot(kOfOpenings, kOfMessages);
	const auto truth = [&](double z) { return 10'000 * std::exp(z * spread); };
	// Half of the distribution is within the median and this.
	double deviation = 0;
	const auto up_to = [&](double value) { return std::erfc(-std::log(value) / spread / std::sqrt(2)) / 2; };
	while (up_to(1 + deviation) - up_to(1 - deviation) < 0.5)
		deviation += 1e-6;
	const double mean = std::exp(spread * spread / 2), sd = mean * std::sqrt(std::expm1(spread * spread));
	std::mt19937_64 random(43);
	Held few, all;
	const auto count = [&](Held &held, const Distribution &told) {
		const auto holds = [](const std::optional<Interval> &interval, double value) {
			return interval && interval->low <= value && value <= interval->high;
		};
		held.p50 += holds(told.intervals[0], truth(0));
		held.p90 += holds(told.intervals[1], truth(1.28155));
		held.p99 += holds(told.intervals[2], truth(2.32635));
		held.p99_9 += holds(told.intervals[3], truth(3.09023));
		held.sd += holds(told.standard_deviation_interval, 10'000 * sd);
		held.mad += holds(told.median_deviation_interval, 10'000 * deviation);
	};
	for (int run = 0; run < runs; ++run) {
		const Blocks measured = simulated(random, blocks, blocks_of_opening, kValuesOfBlock);
		const BlockValues kept = values_of(measured, blocks * kValuesOfBlock / 20, blocks_of_opening);
		ASSERT_FALSE(kept.is_exact());
		ASSERT_LT(kept.blocks().size(), 2 * BlockValues::kLeastBlocks);
		count(few, describe(kept, ClusteredBy::Opening));
		count(all, describe(values_of(measured, SIZE_MAX, blocks_of_opening), ClusteredBy::Opening));
	}
	const auto check = [&](const char *what, int of_few, int of_all) {
		std::printf("%s, %s: %d of %d intervals hold the truth, of all values %d\n", name, what, of_few, runs, of_all);
		EXPECT_GE(of_few, runs * 90 / 100) << what;
		EXPECT_GE(of_few, of_all - runs * 4 / 100) << what;
	};
	check("p50", few.p50, all.p50);
	check("p90", few.p90, all.p90);
	check("p99", few.p99, all.p99);
	check("p99.9", few.p99_9, all.p99_9);
	check("sd", few.sd, all.sd);
	check("mad", few.mad, all.mad);
}
INSTANTIATE_TEST_SUITE_P(Runs, LongRunCoverage,
						 testing::Values(LongRun{"OfFewOpenings", 400, 10}, LongRun{"OfManyOpenings", 400, 1}),
						 [](const auto &spec) { return spec.param.name; });

TEST(PooledValues, AreThoseOfAllBlocks)
{
	const Blocks blocks = latencies(200);
	const std::vector<uint64_t> all = sorted(blocks);
	const PooledValues exact(values_of(blocks, SIZE_MAX)), rounded(values_of(blocks, kMost));
	for (const size_t rank : {size_t{1}, all.size() / 3, all.size()}) {
		EXPECT_EQ(exact.at_rank(rank).low, all[rank - 1]);
		EXPECT_EQ(exact.at_rank(rank).high, all[rank - 1]);
		EXPECT_LE(rounded.at_rank(rank).low, all[rank - 1]);
		EXPECT_GE(rounded.at_rank(rank).high, all[rank - 1]);
	}
	// As many as there really are between these ends.
	const uint64_t from = rounded.at_rank(all.size() / 3).low, to = rounded.at_rank(all.size() / 2).high;
	const auto truth = std::ranges::count_if(all, [&](uint64_t value) { return from <= value && value <= to; });
	EXPECT_EQ(rounded.count_within(from, to), static_cast<uint64_t>(truth));
	EXPECT_EQ(exact.count_within(from, to), static_cast<uint64_t>(truth));
	EXPECT_EQ(rounded.count_within(0, UINT64_MAX), all.size());
	EXPECT_EQ(PooledValues(BlockValues()).count(), 0u);
}

} // namespace
} // namespace icepath::stats
