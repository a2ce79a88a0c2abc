// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/trend.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

std::vector<TimedValue> values_with_trend(std::mt19937_64 &random, size_t count, double change, double noise)
{
	std::normal_distribution<double> normal;
	std::vector<TimedValue> values;
	for (size_t i = 0; i < count; ++i) {
		const double place = static_cast<double>(i) / static_cast<double>(count - 1);
		values.push_back({1'000'000'000 * (i + 5), 9000 * std::exp(change * place + noise * normal(random))});
	}
	return values;
}

TEST(StudentT, HasTwoTails)
{
	EXPECT_NEAR(t_beyond(t_975(7), 7), 0.05, 1e-12);
	EXPECT_NEAR(t_beyond(0, 7), 1, 1e-12);
}

TEST(Trend, IsThatOfLeastSquares)
{
	// Logarithms 1 2 2 4 4 at 0, 1/4 … 1: slope 3.2, squares left 0.8, error sqrt(0.8 / 3 / 0.625).
	std::vector<TimedValue> values;
	for (const double log : {1.0, 2.0, 2.0, 4.0, 4.0})
		values.push_back({100 + 10 * values.size(), std::exp(log)});
	const auto trend = trend_of(values);
	ASSERT_TRUE(trend.has_value());
	EXPECT_NEAR(std::log(trend->ratio), 3.2, 1e-9);
	const double error = std::sqrt(0.8 / 3 / 0.625);
	EXPECT_NEAR(std::log(trend->interval.high), 3.2 + t_975(3) * error, 1e-9);
	EXPECT_NEAR(trend->p, t_beyond(3.2 / error, 3), 1e-12);
	EXPECT_EQ(trend->values, 5u);
}

TEST(Trend, NeedsValuesThatDifferAtTimesThatDiffer)
{
	EXPECT_FALSE(trend_of({{1, 5}, {2, 6}, {3, 5}, {4, 6}}));
	EXPECT_FALSE(trend_of({{1, 5}, {1, 6}, {1, 5}, {1, 6}, {1, 7}}));
	EXPECT_FALSE(trend_of({{1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}}));
	EXPECT_FALSE(trend_of({{1, 0}, {2, 6}, {3, 5}, {4, 6}, {5, 7}})) << "zero has no logarithm";
}

// 1000 runs without a trend and as many with one.
TEST(Trend, IntervalHoldsTheTruthNineteenTimesInTwenty)
{
	std::mt19937_64 random(8);
	for (const double change : {0.0, 0.2})
		for (const size_t count : {5, 8, 30}) {
			int held = 0, told = 0;
			for (int run = 0; run < 1000; ++run) {
				const auto trend = trend_of(values_with_trend(random, count, change, 0.03)).value();
				held += trend.interval.low <= std::exp(change) && std::exp(change) <= trend.interval.high;
				told += trend.p < 0.05;
			}
			EXPECT_NEAR(held, 950, 28) << count;
			if (change == 0)
				EXPECT_NEAR(told, 50, 28) << count;
			else
				EXPECT_GT(told, 850) << count;
		}
}

} // namespace
} // namespace icepath::stats
