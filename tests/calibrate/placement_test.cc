// SPDX-License-Identifier: Apache-2.0
// The share of a call is found whatever the cost of a hit, and within its bracket if watched calls are slower.
#include "profiler/calibrate/placement.h"

#include <gtest/gtest.h>

#include <random>

namespace icepath::calibrate {
namespace {

constexpr HitCost kCost{11'000, 350};

// Calls with `hits` hits, whose hit of interest comes after `change_ns` of `bare_ns`; the time after it is multiplied
// by `slower`. Other hits lie at the call's ends; kCost is the cost of all.
WatchedBlock block_of(double bare_ns, double change_ns, double slower = 1, size_t hits = 1, Hit meant = Hit::Last)
{
	WatchedBlock block{bare_ns, kCost, {}};
	for (uint64_t i = 0; i < 9; i++) {
		WatchedCall call;
		call.begin_ns = 5000 + 100'000 * i;
		const auto at = call.begin_ns + static_cast<uint64_t>(change_ns + kCost.before_ns);
		call.end_ns = at + static_cast<uint64_t>((bare_ns - change_ns) * slower + kCost.after_ns);
		call.hits_ns.assign(hits, meant == Hit::Last ? call.begin_ns + 1 : call.end_ns - 1);
		call.hits_ns.at(number_of(meant, hits)) = at;
		block.calls.push_back(call);
	}
	return block;
}

TEST(Placement, AHitsCostIsTakenAway)
{
	const std::vector<WatchedBlock> blocks(10, block_of(1000, 700));
	const auto share = place(blocks, Hit::Last, 1);
	ASSERT_TRUE(share);
	EXPECT_NEAR(share->value, 0.7, 0.001);
	EXPECT_NEAR(share->low, 0.7, 0.001);
	EXPECT_NEAR(share->high, 0.7, 0.001);
}

TEST(Placement, OfSeveralHitsTheOneThatIsMeant)
{
	for (const Hit meant : {Hit::First, Hit::Last}) {
		const std::vector<WatchedBlock> blocks(10, block_of(1000, 300, 1, 4, meant));
		EXPECT_NEAR(place(blocks, meant, 4)->value, 0.3, 0.001);
	}
}

TEST(Placement, WhatIsSlowerAfterAHitWidensTheBracketThatHoldsTheTruth)
{
	for (const double at : {50.0, 400.0, 950.0}) {
		const std::vector<WatchedBlock> blocks(10, block_of(1000, at, 3));
		const auto share = place(blocks, Hit::Last, 1);
		ASSERT_TRUE(share);
		EXPECT_LE(share->low, at / 1000);
		EXPECT_GE(share->high + 0.001, at / 1000);
		EXPECT_LT(share->low, share->high);
		EXPECT_GE(share->value, share->low);
		EXPECT_LE(share->value, share->high);
	}
}

TEST(Placement, BlocksThatDifferAreToldByTheirMedianAndItsInterval)
{
	std::mt19937_64 random(1);
	std::vector<WatchedBlock> blocks;
	for (int i = 0; i < 20; i++)
		blocks.push_back(block_of(1000, std::uniform_real_distribution(500.0, 700.0)(random)));
	blocks.push_back(block_of(1000, 10)); // disturbed by another task
	const auto share = place(blocks, Hit::Last, 1);
	ASSERT_TRUE(share);
	EXPECT_NEAR(share->value, 0.6, 0.05);
	EXPECT_GT(share->low, 0.5);
	EXPECT_LT(share->high, 0.7);
}

TEST(Placement, TheBracketHoldsTheMedianOfTheBlocksInNineteenOfTwentyPasses)
{
	std::mt19937_64 random(2);
	constexpr int kPasses = 2000;
	int held = 0;
	for (int pass = 0; pass < kPasses; pass++) {
		std::vector<WatchedBlock> blocks;
		for (int i = 0; i < 20; i++)
			blocks.push_back(block_of(100'000, std::uniform_real_distribution(20'000.0, 80'000.0)(random)));
		const auto share = place(blocks, Hit::Last, 1);
		held += share->low <= 0.5 && 0.5 <= share->high;
	}
	EXPECT_GT(held, 0.94 * kPasses);
	EXPECT_LT(held, 0.985 * kPasses);
}

TEST(Placement, CallsWithAnotherNumberOfHitsDontCount)
{
	EXPECT_FALSE(place({}, Hit::Last, 1));
	const std::vector<WatchedBlock> others(10, block_of(1000, 700, 1, 2));
	EXPECT_FALSE(place(others, Hit::Last, 1));
	std::vector<WatchedBlock> blocks(10, block_of(1000, 700));
	blocks[0] = block_of(1000, 100, 1, 2);
	EXPECT_NEAR(place(blocks, Hit::Last, 1)->low, 0.7, 0.001);
}

TEST(Placement, TheUsualNumberOfHitsIsThatOfHalfOfTheCallsOrMore)
{
	const auto usual = [](const std::vector<size_t> &numbers) {
		std::vector<WatchedCall> calls;
		for (const size_t number : numbers)
			calls.push_back({0, 1, std::vector<uint64_t>(number)});
		return usual_hits(calls);
	};
	EXPECT_EQ(usual({}), 0u);
	EXPECT_EQ(usual({2, 2, 3}), 2u);
	EXPECT_EQ(usual({1, 2, 3}), 0u) << "it varies";
	EXPECT_EQ(usual({0, 0, 1}), 0u) << "not hit";
}

// As if the hypervisor took less time for this hit than for the anchor's.
TEST(Placement, NothingIsOutsideOfTheCall)
{
	std::vector<WatchedBlock> blocks(5, block_of(1000, 700));
	for (WatchedBlock &block : blocks)
		for (WatchedCall &call : block.calls)
			call.hits_ns[0] = call.begin_ns + 100;
	const auto share = place(blocks, Hit::Last, 1);
	ASSERT_TRUE(share);
	EXPECT_GE(share->low, 0);
	EXPECT_LE(share->high, 1);
}

} // namespace
} // namespace icepath::calibrate
