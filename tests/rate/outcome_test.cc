// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/outcome.h"
#include "tests/model/own_window.h"

#include <gtest/gtest.h>

namespace icepath::rate {
namespace {

model::Cell cell()
{
	model::Cell made;
	made.pattern = model::Pattern::MaxRate;
	made.limits = model::RateLimits{};
	return made;
}

model::Block block(int level, uint64_t latency_ns, bool probed = false)
{
	model::Block made;
	made.rate_hz = hz_of(level);
	own_window(made).probed = probed;
	made.sides.resize(2);
	made.flows.resize(1);
	for (uint64_t seq = 0; seq < 1000; ++seq) {
		made.flows[0].sends.push_back({seq, 1000, 1000, 1000, 0, 1000, 1, 0, 0});
		made.flows[0].recvs.push_back({seq, 0, 0, 0, 0, 0, 1000 + latency_ns, 1, 0});
	}
	return made;
}

TEST(Outcome, IsMadeOfTheBlocksThatWereJudged)
{
	const model::Cell what = cell();
	OutcomeOf collected(what);
	for (int i = 0; i < 3; ++i) {
		collected.add(block(20, 500'000));
		collected.add(block(21, 1'500'000));
		collected.add(block(40, 10, true)); // probed
	}
	const Outcome outcome = collected.take();
	ASSERT_EQ(outcome.attempts.size(), 6u);
	EXPECT_TRUE(outcome.attempts[0].verdict.held);
	EXPECT_FALSE(outcome.attempts[1].verdict.held);
	EXPECT_EQ(outcome.found.hz, hz_of(20));
	EXPECT_EQ(outcome.found.failed_hz, hz_of(21));
}

TEST(Outcome, StatisticsAreOfTheRateAndOneLevelBelowIt)
{
	const model::Cell what = cell();
	OutcomeOf collected(what);
	for (int i = 0; i < 3; ++i)
		collected.add(block(20, 10));
	const Outcome outcome = collected.take();
	EXPECT_TRUE(outcome.uses(block(20, 10)));
	EXPECT_TRUE(outcome.uses(block(19, 10, true)));
	EXPECT_FALSE(outcome.uses(block(18, 10)));
	EXPECT_FALSE(outcome.uses(block(21, 10)));
	model::Block of_another_pattern = block(20, 10);
	of_another_pattern.rate_hz = std::nullopt;
	EXPECT_FALSE(outcome.uses(of_another_pattern));
	EXPECT_FALSE(OutcomeOf(what).take().uses(block(20, 10))) << "nothing was tried";
}

TEST(Outcome, BlocksThatConfirmChooseNothingAndMakeTheStatistics)
{
	const model::Cell what = cell();
	OutcomeOf collected(what);
	for (int i = 0; i < 3; ++i)
		collected.add(block(20, 500'000));
	const auto confirming = [](uint64_t latency_ns, bool probed = false) {
		model::Block one = block(20, latency_ns, probed);
		one.confirms = true;
		return one;
	};
	for (const uint64_t latency_ns : {1'500'000, 1'600'000, 400'000, 1'700'000})
		collected.add(confirming(latency_ns));
	const Outcome outcome = collected.take();
	EXPECT_EQ(outcome.found.hz, hz_of(20)) << "as the search found it";
	EXPECT_EQ(outcome.attempts.size(), 3u);
	ASSERT_EQ(outcome.confirmations.size(), 4u);
	EXPECT_TRUE(outcome.confirmed_by_enough());
	EXPECT_EQ(outcome.held_again(), 1u);
	EXPECT_TRUE(outcome.uses(confirming(10)));
	EXPECT_TRUE(outcome.uses(confirming(10, true)));
	EXPECT_FALSE(outcome.uses(block(20, 10))) << "it was chosen for holding";
}

TEST(Outcome, TooFewConfirmationsLeaveItToTheSearch)
{
	const model::Cell what = cell();
	OutcomeOf collected(what);
	for (int i = 0; i < 5; ++i) {
		model::Block one = block(20, 10);
		one.confirms = i >= 3;
		collected.add(one);
	}
	const Outcome outcome = collected.take();
	EXPECT_FALSE(outcome.confirmed_by_enough());
	EXPECT_TRUE(outcome.uses(block(20, 10)));
}

TEST(Confirming, TakesTheLastThird)
{
	EXPECT_FALSE(is_time_to_confirm(19, 30));
	EXPECT_TRUE(is_time_to_confirm(20, 30));
	EXPECT_FALSE(is_time_to_confirm(5, 9));
	EXPECT_TRUE(is_time_to_confirm(6, 9));
	for (uint32_t done = 0; done < 8; ++done)
		EXPECT_FALSE(is_time_to_confirm(done, 8)) << "the search needs them";
}

} // namespace
} // namespace icepath::rate
