// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/analysis/cell_modes.h"
#include "tests/report/synthetic_run.h"

namespace icepath::analysis {
namespace {

// The latencies are the number of the round, and twice as much in the second flow.
void add_blocks(WholeBlocks &blocks, uint32_t round)
{
	model::Block block = block_of(2);
	const auto window = std::make_shared<model::Window>();
	window->round = round;
	window->probed = round % 2 == 1;
	block.window = window;
	block.opening = round / 4;
	std::vector<uint64_t> both(10, round);
	both.resize(30, 2 * round);
	blocks.add(block, std::make_shared<const std::vector<uint64_t>>(both),
			   {std::vector<uint64_t>(10, round), std::vector<uint64_t>(20, 2 * round)});
}

TEST(WholeBlocks, OfALongRunAreThoseOfGroupsOfRoundsSpreadOverIt)
{
	constexpr uint32_t kManyRounds = 800;
	constexpr size_t kMost = 3000; // of 24000
	WholeBlocks blocks(kMost);
	for (uint32_t round = 0; round < kManyRounds; ++round) {
		add_blocks(blocks, round);
		EXPECT_LE(30 * (blocks.of(false).latency.size() + blocks.of(true).latency.size()), kMost + 30 * 8) << round;
		EXPECT_EQ(blocks.one_in() == 1, round < kMost / 30) << round;
	}
	std::vector<uint32_t> rounds = blocks.of(false).round;
	rounds.insert(rounds.end(), blocks.of(true).round.begin(), blocks.of(true).round.end());
	std::ranges::sort(rounds);
	ASSERT_GE(rounds.size(), kMost / 30 / 2 - 8);
	ASSERT_EQ(rounds.size() % 8, 0u);
	const uint32_t apart = rounds.at(8) - rounds.at(0);
	for (size_t i = 0; i < rounds.size(); ++i)
		EXPECT_EQ(rounds[i], i / 8 * apart + i % 8);
	EXPECT_GT(rounds.back() + apart, kManyRounds - 8);
	for (const bool probed : {false, true}) {
		const BlocksOfMessages &kept = blocks.of(probed);
		for (size_t i = 0; i < kept.round.size(); ++i) {
			EXPECT_EQ(kept.opening[i], kept.round[i] / 4);
			EXPECT_EQ(kept.of_flow[i], (std::vector<size_t>{10, 20}));
			EXPECT_EQ(kept.latency[i]->front(), kept.round[i]);
			EXPECT_EQ(kept.latency[i]->back(), 2 * kept.round[i]);
		}
	}
}

// Two of them, which have as many blocks as modes take.
TEST(WholeBlocks, OfLargeBlocksAreThoseOfTwoWholeGroupsAtLeast)
{
	WholeBlocks blocks(50); // not even two blocks
	for (uint32_t round = 0; round < 300; ++round) {
		add_blocks(blocks, round);
		const std::vector<uint32_t> &unprobed = blocks.of(false).round;
		EXPECT_LE(unprobed.size(), 4u * 4) << round;
		if (round >= 16) {
			const auto whole = [&](uint32_t group) {
				return std::ranges::count(unprobed, group, [](uint32_t each) { return each / 8; }) == 4;
			};
			EXPECT_TRUE(whole(0) && whole(blocks.one_in())) << round;
		}
	}
}

} // namespace
} // namespace icepath::analysis
