// SPDX-License-Identifier: Apache-2.0
#include "profiler/rate/threshold.h"

#include <gtest/gtest.h>

namespace icepath::rate {
namespace {

Terms terms(double max_loss, uint64_t max_p99_ns, uint64_t busy_ns = 0)
{
	model::Cell cell;
	cell.limits = model::RateLimits{max_loss, max_p99_ns};
	cell.levels.receiver_busy_ns = busy_ns;
	return terms_of(cell);
}

TEST(Levels, AreTheSameWayThereAndBack)
{
	for (int level = -60; level <= 120; ++level)
		EXPECT_EQ(level_of(hz_of(level)), level);
	EXPECT_DOUBLE_EQ(hz_of(0), 10'000);
	EXPECT_DOUBLE_EQ(hz_of(kLevelsPerOctave), 20'000);
	EXPECT_LT(hz_of(1) / hz_of(0), 1.052) << "the resolution";
	for (const double hz : {1e-300, 1e300})
		EXPECT_LE(std::abs(level_of(hz)), 1000) << "what a hostile run says is bounded";
}

// A receiver whose capacity is one level below the rate lags by more than the limit, for more than 1 % of the messages.
TEST(Terms, BlocksAreLongEnoughToSeeOneLevelTooMuch)
{
	for (const uint64_t p99_ns : {1'000u, 1'000'000u, 30'000'000u, 100'000'000u}) {
		const Terms t = terms(0, p99_ns);
		const double behind_ns = (hz_of(1) / hz_of(0) - 1) * static_cast<double>(t.block_ns);
		EXPECT_GT(behind_ns * 0.98, static_cast<double>(p99_ns)) << p99_ns;
		for (const int level : {t.lowest, 0, t.highest}) {
			const double length_ns = static_cast<double>(scheduled_ns(messages_at(t, hz_of(level)), hz_of(level)));
			EXPECT_GE(length_ns, 0.999 * static_cast<double>(t.block_ns)) << p99_ns << " " << level;
		}
		EXPECT_LT(t.lowest, t.highest);
	}
}

TEST(Terms, BlocksHaveMessagesForAP99WhateverMayBeLost)
{
	EXPECT_EQ(messages_at(terms(0, 1'000'000), 1100), 1000u);
	EXPECT_EQ(messages_at(terms(0.5, 1'000'000), 1100), 2000u);
	EXPECT_LE(messages_at(terms(0.999999999, 1'000'000), 1e9), 200'000u) << "there is no more room";
}

TEST(Terms, AReceiverThatIsHeldUpIsntSentToTenTimesTooFast)
{
	EXPECT_GT(hz_of(terms(0, 1'000'000).highest), 1.8e6);
	EXPECT_LT(hz_of(terms(0, 1'000'000, 100'000).highest), 20'001);
	const Terms slow = terms(0, 1'000'000, 1'000'000'000);
	EXPECT_EQ(slow.highest, slow.lowest);
}

} // namespace
} // namespace icepath::rate
