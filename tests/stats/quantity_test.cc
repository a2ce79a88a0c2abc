// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/quantity.h"

#include <gtest/gtest.h>

namespace icepath::stats {
namespace {

TEST(Quantity, MicrosecondsHaveThreeDigits)
{
	EXPECT_EQ(microseconds(0), "0.000");
	EXPECT_EQ(microseconds(512), "0.512");
	EXPECT_EQ(microseconds(999.6), "1.00");
	EXPECT_EQ(microseconds(8410), "8.41");
	EXPECT_EQ(microseconds(9996), "10.0");
	EXPECT_EQ(microseconds(14900), "14.9");
	EXPECT_EQ(microseconds(99960), "100");
	EXPECT_EQ(microseconds(412345), "412");
	EXPECT_EQ(microseconds(12345678), "12 346");
	EXPECT_EQ(microseconds(-3100), "-3.10");
	EXPECT_EQ(microseconds(-412345), "-412");
}

TEST(Quantity, IntervalsHaveTheDecimalsOfTheirValue)
{
	EXPECT_EQ(microseconds_beside(65, 5340), "0.07");
	EXPECT_EQ(microseconds_beside(65, 534), "0.065");
	EXPECT_EQ(microseconds_beside(1499, 412000), "1");
}

TEST(Quantity, RatesAreShort)
{
	EXPECT_EQ(per_second(0.25), "0.250");
	EXPECT_EQ(per_second(845), "845");
	EXPECT_EQ(per_second(12'345), "12.3k");
	EXPECT_EQ(per_second(999.7e3), "1.00M");
	EXPECT_EQ(per_second(1.264e6), "1.26M");
}

TEST(Quantity, DurationsHaveTheirUnit)
{
	EXPECT_EQ(duration(87), "87 ns");
	EXPECT_EQ(duration(8410), "8.41 µs");
	EXPECT_EQ(duration(1.5e6), "1.50 ms");
	EXPECT_EQ(duration(2e9), "2.00 s");
	EXPECT_EQ(duration(999.7e3), "1.00 ms");
}

TEST(Quantity, CountsAreGrouped)
{
	EXPECT_EQ(count(0), "0");
	EXPECT_EQ(count(9999), "9999");
	EXPECT_EQ(count(18233), "18 233");
	EXPECT_EQ(count(123456), "123 456");
	EXPECT_EQ(count(1234567), "1 234 567");
}

TEST(Quantity, LopsidedIntervalsHaveBothEnds)
{
	EXPECT_EQ(interval_text(5000, {4900, 5100}), " ±0.10");
	EXPECT_EQ(interval_text(5000, {4900, 5900}), " (4.90..5.90)");
	EXPECT_EQ(interval_text(5000, {4000, 5100}), " (4.00..5.10)");
	EXPECT_EQ(interval_text(5000, {4950, 5200}), " ±0.12") << "by 4 % only";
	EXPECT_EQ(interval_text(5000, {4000, 6400}), " ±1.20") << "not by half as much again";
	EXPECT_EQ(interval_text(5000, {100, 40'000}), " ±>100%") << "it says nothing";
}

} // namespace
} // namespace icepath::stats
