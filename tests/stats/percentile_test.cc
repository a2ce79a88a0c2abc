// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/percentile.h"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace icepath::stats {
namespace {

std::vector<uint64_t> whole_to(uint64_t n)
{
	std::vector<uint64_t> values(n);
	std::iota(values.begin(), values.end(), uint64_t{1});
	return values;
}

TEST(Percentile, IsTheOrderStatisticOfRankCeilNP)
{
	EXPECT_EQ(percentile(whole_to(1), kP50), 1u);
	EXPECT_EQ(percentile(whole_to(2), kP50), 1u);
	EXPECT_EQ(percentile(whole_to(3), kP50), 2u);
	EXPECT_EQ(percentile(whole_to(100), kP99), 99u);
	EXPECT_EQ(percentile(whole_to(101), kP99), 100u);
	EXPECT_EQ(percentile(whole_to(1000), kP99_9), 999u);
	EXPECT_EQ(percentile(whole_to(10000), kP99_9), 9990u);
	EXPECT_EQ(percentile(whole_to(100000), kP99_99), 99990u);
	EXPECT_EQ(percentile(whole_to(100001), kP99_99), 99991u);
	EXPECT_EQ(percentile(whole_to(99999), kP99_999), 99999u);
	EXPECT_EQ(percentile(whole_to(1000000), kP99_999), 999990u);
	EXPECT_EQ(percentile(whole_to(1000001), kP99_999), 999991u);
}

TEST(Percentile, IsTheSmallestValueThatEnoughOfTheSampleDoesntExceed)
{
	const std::vector<uint64_t> sorted = {5, 5, 5, 7, 7, 9, 9, 9, 9, 100};
	for (uint32_t p = 1; p < 100000; ++p) {
		const auto within = [&](uint64_t limit) {
			uint64_t n = 0;
			for (const uint64_t value : sorted)
				n += value <= limit ? 100000 : 0;
			return n >= p * sorted.size();
		};
		const uint64_t value = percentile(sorted, {p});
		EXPECT_TRUE(within(value)) << p;
		EXPECT_FALSE(within(value - 1)) << p;
	}
}

TEST(Percentile, IsGivenOnlyWithTenValuesBeyondIt)
{
	EXPECT_FALSE(supported(19, kP50));
	EXPECT_TRUE(supported(20, kP50));
	EXPECT_FALSE(supported(999, kP99));
	EXPECT_TRUE(supported(1000, kP99));
	EXPECT_FALSE(supported(9999, kP99_9));
	EXPECT_TRUE(supported(10000, kP99_9));
	EXPECT_FALSE(supported(99999, kP99_99));
	EXPECT_TRUE(supported(100000, kP99_99));
	EXPECT_FALSE(supported(999999, kP99_999));
	EXPECT_TRUE(supported(1000000, kP99_999));
	EXPECT_FALSE(supported(0, kP50));
}

TEST(Percentile, RanksOfTheLargestSamplesDontOverflow)
{
	constexpr uint64_t n = (uint64_t{1} << 47) - 1;
	EXPECT_EQ(rank(n, kP50), n / 2 + 1);
	EXPECT_EQ(rank(n, kP99_999), n - n / 100000);
	EXPECT_TRUE(supported(n, kP99_999));
}

TEST(Percentile, TheMedianIsAValueInAnyOrder)
{
	EXPECT_EQ(median({7}), 7);
	EXPECT_EQ(median({9, 1}), 1);
	EXPECT_EQ(median({30, 10, 20}), 20);
	EXPECT_EQ(median({4, 1, 3, 2}), 2);
}

} // namespace
} // namespace icepath::stats
