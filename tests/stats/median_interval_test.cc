// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/interval.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace icepath::stats {
namespace {

std::vector<double> one_to(int n)
{
	std::vector<double> values(n);
	std::iota(values.rbegin(), values.rend(), 1);
	return values;
}

TEST(MedianInterval, IsWhatTheTablesOfTheSignTestSay)
{
	EXPECT_EQ(middle_of({7}).median, 7);
	EXPECT_EQ(middle_of({1, 2}).median, 1.5);
	EXPECT_FALSE(middle_of(one_to(5)).interval);
	// 1-based ranks of the order statistics, as in Conover's table of confidence limits for the median.
	const std::tuple<int, double, double> rows[] = {{6, 1, 6},   {8, 1, 8},   {9, 2, 8},
													{15, 4, 12}, {20, 6, 15}, {30, 10, 21}};
	for (const auto &[n, low, high] : rows) {
		const Middle middle = middle_of(one_to(n));
		EXPECT_EQ(middle.median, (n + 1) / 2.0) << n;
		EXPECT_EQ(middle.interval->low, low) << n;
		EXPECT_EQ(middle.interval->high, high) << n;
	}
	EXPECT_TRUE(middle_of(one_to(5000)).interval); // the binomial's terms underflow
}

// For a heavy-tailed distribution, whose mean is anywhere.
TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays)
{
	std::mt19937_64 random(11);
	std::cauchy_distribution<double> cauchy(3, 1);
	int held = 0;
	constexpr int kRuns = 2000;
	for (int run = 0; run < kRuns; run++) {
		std::vector<double> values(20);
		for (double &value : values)
			value = cauchy(random);
		const Middle middle = middle_of(values);
		held += middle.interval->low <= 3 && 3 <= middle.interval->high;
	}
	EXPECT_GE(held, kRuns * 95 / 100);
	EXPECT_LE(held, kRuns * 98 / 100); // 95.9 % of them: not wider than necessary
}

} // namespace
} // namespace icepath::stats
