// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/outcome.h"

#include <gtest/gtest.h>

namespace icepath::rate {
namespace {

rundir::Cell cell()
{
	rundir::Cell made;
	made.pattern = rundir::Pattern::MaxRate;
	made.limits = rundir::RateLimits{};
	return made;
}

rundir::Block block(int level, uint64_t latency_ns, bool probed = false)
{
	rundir::Block made;
	made.rate_hz = hz_of(level);
	made.probed = probed;
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
	const rundir::Cell what = cell();
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
	const rundir::Cell what = cell();
	OutcomeOf collected(what);
	for (int i = 0; i < 3; ++i)
		collected.add(block(20, 10));
	const Outcome outcome = collected.take();
	EXPECT_TRUE(outcome.tells_of(block(20, 10)));
	EXPECT_TRUE(outcome.tells_of(block(19, 10, true)));
	EXPECT_FALSE(outcome.tells_of(block(18, 10)));
	EXPECT_FALSE(outcome.tells_of(block(21, 10)));
	rundir::Block of_another_pattern = block(20, 10);
	of_another_pattern.rate_hz = std::nullopt;
	EXPECT_FALSE(outcome.tells_of(of_another_pattern));
	EXPECT_FALSE(OutcomeOf(what).take().tells_of(block(20, 10))) << "nothing was tried";
}

} // namespace
} // namespace icepath::rate
