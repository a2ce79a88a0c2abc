// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/hdr_histogram.h"

#include <gtest/gtest.h>

#include <random>

namespace icepath::stats {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 62;

TEST(HdrHistogram, EachValueLiesWithinItsBucket)
{
	std::mt19937_64 random(1);
	for (int trial = 0; trial < 200'000; trial++) {
		const uint64_t value = random() >> (2 + random() % 62);
		const size_t index = HdrHistogram::index_of(value);
		ASSERT_LE(HdrHistogram::lowest_at(index), value);
		ASSERT_GE(HdrHistogram::highest_at(index), value);
		ASSERT_EQ(HdrHistogram::index_of(HdrHistogram::lowest_at(index)), index);
		ASSERT_EQ(HdrHistogram::index_of(HdrHistogram::highest_at(index)), index);
	}
}

TEST(HdrHistogram, BucketsJoinWithoutAGap)
{
	for (size_t index = 0; index < 30'000; index++)
		ASSERT_EQ(HdrHistogram::highest_at(index) + 1, HdrHistogram::lowest_at(index + 1)) << index;
}

TEST(HdrHistogram, KeepsThreeDigits)
{
	for (size_t index = HdrHistogram::kSubBuckets; index < 30'000; index++) {
		const uint64_t width = HdrHistogram::highest_at(index) - HdrHistogram::lowest_at(index) + 1;
		ASSERT_LE(width * 1000, HdrHistogram::lowest_at(index)) << index;
	}
}

TEST(HdrHistogram, CountsWhatWasAdded)
{
	HdrHistogram histogram;
	EXPECT_EQ(histogram.mean(), 0);
	EXPECT_TRUE(histogram.counts().empty());
	for (const uint64_t value : {5u, 5u, 2047u, 100'000u})
		histogram.add(value);
	histogram.add(UINT64_MAX);
	EXPECT_EQ(histogram.total(), 5u);
	EXPECT_EQ(histogram.max(), kLargest);
	EXPECT_EQ(histogram.counts()[5], 2u);
	EXPECT_EQ(histogram.counts()[2047], 1u);
	EXPECT_EQ(histogram.counts()[HdrHistogram::index_of(100'000)], 1u);
	EXPECT_EQ(histogram.counts().back(), 1u);
}

TEST(HdrHistogram, TwoTogetherAreThatOfAllValues)
{
	HdrHistogram few, many, all;
	for (const uint64_t value : {3, 70'000, 70'001})
		few.add(value);
	for (const uint64_t value : {3, 5, 1 << 24})
		many.add(value);
	for (const uint64_t value : {3, 70'000, 70'001, 3, 5, 1 << 24})
		all.add(value);
	few.add(many);
	EXPECT_EQ(few.counts(), all.counts());
	EXPECT_EQ(few.total(), all.total());
	EXPECT_EQ(few.max(), all.max());
	few.add(HdrHistogram());
	EXPECT_EQ(few.counts(), all.counts());
}

TEST(HdrHistogram, MeanAndDeviationOfSmallValuesAreExact)
{
	HdrHistogram histogram;
	for (const uint64_t value : {2u, 4u, 4u, 4u, 5u, 5u, 7u, 9u})
		histogram.add(value);
	EXPECT_DOUBLE_EQ(histogram.mean(), 5);
	EXPECT_DOUBLE_EQ(histogram.standard_deviation(), 2);
}

} // namespace
} // namespace icepath::stats
