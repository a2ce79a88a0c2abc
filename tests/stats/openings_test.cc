// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/openings.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "profiler/stats/block_interval.h"
#include "profiler/stats/distributions.h"
#include "profiler/stats/slow_changes.h"

namespace icepath::stats {
namespace {

// p50s of blocks in ABBA order, four for each opening; `luck`: each opening's offset on the logarithm.
std::vector<OpeningBlock> p50s(std::mt19937_64 &random, const std::vector<double> &luck, double within)
{
	std::normal_distribution<double> normal;
	std::vector<OpeningBlock> blocks;
	for (uint32_t opening = 0; opening < luck.size(); ++opening)
		for (const bool probed : {true, false, false, true})
			blocks.push_back(
				{opening, probed, 14'000 * std::exp(luck[opening] + within * normal(random)) * (probed ? 1.1 : 1)});
	return blocks;
}

TEST(FisherF, IsThatOfTheTables)
{
	// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.3: upper 5 % and 1 % points.
	EXPECT_NEAR(f_beyond(4.965, 1, 10), 0.05, 1e-4);
	EXPECT_NEAR(f_beyond(3.020, 9, 10), 0.05, 1e-4);
	EXPECT_NEAR(f_beyond(4.942, 9, 10), 0.01, 1e-4);
}

TEST(Openings, AnalysisOfVarianceIsThatOfTheBook)
{
	// Logarithms 1 2 3, 2 3 4, 6 7 8: between 21 on 2 degrees, within 1 on 6.
	std::vector<OpeningBlock> blocks;
	for (uint32_t opening = 0; opening < 3; ++opening)
		for (const double log : {0.0, 1.0, 2.0})
			blocks.push_back({opening, false, std::exp((opening == 2 ? 6 : 1 + opening) + log)});
	const Openings told = look_at_openings(blocks);
	ASSERT_TRUE(told.difference.has_value());
	EXPECT_NEAR(told.difference->f, 21, 1e-9);
	EXPECT_NEAR(told.difference->p, f_beyond(21, 2, 6), 1e-12);
	EXPECT_NEAR(told.difference->within_sd, 1, 1e-9);
	EXPECT_NEAR(told.difference->between_sd, std::sqrt(20.0 / 3), 1e-9);
	ASSERT_EQ(told.values.size(), 3u);
	EXPECT_NEAR(told.values[2], std::exp(7), 1e-6);
}

TEST(Openings, WhatProbesAddIsNoDifference)
{
	std::mt19937_64 random(1);
	std::vector<OpeningBlock> blocks = p50s(random, {0, 0, 0, 0}, 0.01);
	for (OpeningBlock &block : blocks)
		block.value *= block.treated ? 3 : 1;
	EXPECT_FALSE(look_at_openings(blocks).differ());
	EXPECT_NEAR(look_at_openings(blocks).values[0], 14'000, 400) << "of blocks without probes";
}

TEST(Openings, OfOneBlockEachOrOfOneOpeningTellNothing)
{
	EXPECT_FALSE(look_at_openings({}).difference);
	EXPECT_FALSE(look_at_openings({{0, false, 5}, {1, false, 6}, {2, false, 7}}).difference);
	EXPECT_FALSE(look_at_openings({{0, false, 5}, {0, false, 6}, {0, true, 7}}).difference);
	EXPECT_FALSE(look_at_openings({{0, false, 5}, {0, false, 5}, {1, false, 5}, {1, false, 5}}).difference)
		<< "no block differs from another";
	EXPECT_EQ(look_at_openings({{0, false, 0}, {1, false, 6}, {1, true, 6}}).values.size(), 1u)
		<< "zero has no logarithm";
	// Two blocks for each opening are enough: they differ only by the probes' effect, which is taken out.
	EXPECT_TRUE(
		look_at_openings({{0, false, 5}, {0, true, 6}, {1, true, 7}, {1, false, 6}, {2, false, 5}, {2, true, 5}})
			.difference);
}

TEST(Openings, AlikeOnesAreSaidToDifferNoMoreOftenThanThat)
{
	std::mt19937_64 random(2);
	constexpr int kRuns = 4000;
	int differ = 0;
	for (int run = 0; run < kRuns; ++run)
		differ += look_at_openings(p50s(random, std::vector<double>(8, 0.0), 0.05)).differ();
	EXPECT_LE(differ, 12) << "one in a thousand";
	EXPECT_EQ(look_at_openings(p50s(random, {0, 0, 0.2, 0, 0.2, 0, 0, 0}, 0.01)).differ(), true);
}

// 12.6 and 15.6 µs, as measured with a UNIX stream socket's ping-pong.
TEST(Openings, TwoModesAreToldAsSuch)
{
	std::mt19937_64 random(3);
	std::normal_distribution<double> normal;
	std::vector<double> luck;
	for (int opening = 0; opening < 12; ++opening)
		luck.push_back((opening % 3 == 0 ? std::log(15.6 / 12.6) : 0) + 0.02 * normal(random) + std::log(12.6 / 14));
	const Openings told = look_at_openings(p50s(random, luck, 0.02));
	ASSERT_EQ(told.modes.size(), 2u);
	EXPECT_NEAR(told.modes[0].value, 12'600, 400);
	EXPECT_NEAR(told.modes[1].value, 15'600, 400);
	EXPECT_EQ(told.modes[0].openings, 8u);
	EXPECT_EQ(told.modes[1].openings, 4u);
	EXPECT_EQ(told.values.size(), 12u);
}

// A single outlying opening is an accident, and few openings fall into two groups by chance.
TEST(Openings, OneThatIsOffIsNoMode)
{
	std::mt19937_64 random(4);
	EXPECT_TRUE(look_at_openings(p50s(random, {0, 0, 0, 0, 0, 0, 0, 0.3}, 0.01)).differ());
	EXPECT_TRUE(look_at_openings(p50s(random, {0, 0, 0, 0, 0, 0, 0, 0.3}, 0.01)).modes.empty());
	EXPECT_TRUE(look_at_openings(p50s(random, {0, 0.01, 0.3, 0.31}, 0.001)).modes.empty());
}

TEST(Openings, ThatSpreadEvenlyAreSeldomTakenForModes)
{
	std::mt19937_64 random(5);
	std::normal_distribution<double> normal;
	std::uniform_real_distribution<double> even(-1, 1);
	constexpr int kTries = 1500;
	for (const size_t openings : {7, 8, 10, 15, 30}) {
		int of_normal = 0, of_even = 0;
		for (int run = 0; run < kTries; ++run) {
			std::vector<double> luck(openings), other(openings);
			std::ranges::generate(luck, [&] { return 0.1 * normal(random); });
			std::ranges::generate(other, [&] { return 0.2 * even(random); });
			of_normal += !look_at_openings(p50s(random, luck, 0.005)).modes.empty();
			of_even += !look_at_openings(p50s(random, other, 0.005)).modes.empty();
		}
		EXPECT_LE(of_normal, kTries / 50) << openings;
		EXPECT_LE(of_even, kTries / 50) << openings;
	}
}

// The messages of one run: processes and blocks have their luck, and neighbours are alike.
std::vector<std::vector<uint64_t>> run_of(std::mt19937_64 &random, size_t openings, size_t blocks, double luck)
{
	std::normal_distribution<double> normal;
	std::vector<std::vector<uint64_t>> run;
	for (size_t opening = 0; opening < openings; ++opening) {
		const double of_opening = luck * normal(random);
		for (size_t block = 0; block < blocks; ++block) {
			const double shift = of_opening + 0.02 * normal(random);
			double state = normal(random);
			for (std::vector<uint64_t> &messages = run.emplace_back(); messages.size() < 100;) {
				state = 0.9 * state + std::sqrt(1 - 0.81) * normal(random);
				messages.push_back(static_cast<uint64_t>(std::llround(13'000 * std::exp(shift + 0.15 * state))));
			}
		}
	}
	return run;
}

struct Tally {
	int truth = 0, disjoint = 0;
};

constexpr int kRuns = 1000;

// In how many of kRuns runs the interval contains what all runs have in common, and in how many of half as many pairs
// two intervals are disjoint.
Tally another_run(size_t openings, size_t blocks, double luck, bool by_opening)
{
	std::mt19937_64 random(6);
	std::vector<uint32_t> clusters;
	for (uint32_t i = 0; by_opening && i < openings * blocks; ++i)
		clusters.push_back(i / static_cast<uint32_t>(blocks));
	Tally tally;
	std::optional<Interval> before;
	for (int run = 0; run < kRuns; ++run) {
		const auto interval = describe(run_of(random, openings, blocks, luck), clusters).intervals[0];
		tally.truth += interval && interval->low <= 13'000 && 13'000 <= interval->high;
		if (run % 2 && interval && before)
			tally.disjoint += interval->high < before->low || before->high < interval->low;
		before = interval;
	}
	return tally;
}

TEST(IntervalsOverOpenings, HoldForAnotherRun)
{
	for (const auto &[openings, blocks, luck] :
		 {std::tuple{5u, 2u, 0.1}, {8u, 2u, 0.1}, {17u, 2u, 0.1}, {5u, 6u, 0.05}}) {
		const Tally tally = another_run(openings, blocks, luck, true);
		RecordProperty(std::to_string(openings) + "x" + std::to_string(blocks), tally.truth);
		EXPECT_GE(tally.truth, kRuns * 93 / 100) << openings << " openings of " << blocks << " blocks";
		if (openings < 2 * kStretches) { // with more, slow changes are never ruled out
			EXPECT_LE(tally.truth, kRuns * 99 / 100) << openings << " openings of " << blocks << " blocks";
		}
		EXPECT_LE(tally.disjoint, kRuns / 2 * 5 / 100);
	}
}

// Counter-test: all blocks of a run in one opening, as icepath once measured.
TEST(IntervalsOverOpenings, OfBlocksOfOneOpeningDoNot)
{
	const Tally one = another_run(1, 2 * kStretches - 1, 0.1, false);
	EXPECT_LT(one.truth, kRuns / 2);
	EXPECT_GT(one.disjoint, kRuns / 2 / 3);
	// With several openings, what an opening's blocks have in common is a slow change: slow_changes.h. Too few openings
	// for that are treated as if their blocks were openings.
	EXPECT_GE(another_run(4, 8, 0.1, false).truth, kRuns * 93 / 100);
	EXPECT_LT(another_run(3, 2, 0.1, false).truth, kRuns * 92 / 100) << "blocks aren't the openings' evidence";
}

TEST(IntervalsOverOpenings, BlocksOfAnOpeningCountAsOne)
{
	std::mt19937_64 random(7);
	const auto run = run_of(random, 3, 2, 0.1); // too few to be cut into stretches
	const Distribution by_block = describe(run), by_opening = describe(run, {7, 7, 3, 3, 5, 5});
	EXPECT_EQ(by_block.clusters, 6u);
	EXPECT_EQ(by_opening.clusters, 3u);
	EXPECT_EQ(by_opening.blocks, 6u);
	EXPECT_EQ(by_opening.percentiles[0], by_block.percentiles[0]);
	EXPECT_GT(by_opening.intervals[0]->high - by_opening.intervals[0]->low,
			  by_block.intervals[0]->high - by_block.intervals[0]->low);
	EXPECT_FALSE(describe(run, {1, 1, 1, 2, 2, 2}).intervals[0]) << "two openings give no interval";
	// A block without a value takes its cluster's number with it.
	const std::vector<uint64_t> some(100, 5), more(100, 6);
	EXPECT_EQ(describe({some, {}, more, some, more}, {0, 1, 0, 2, 3}).clusters, 3u);
}

} // namespace
} // namespace icepath::stats
