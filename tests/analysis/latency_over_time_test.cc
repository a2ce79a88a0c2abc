// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/latency_over_time.h"

#include <gtest/gtest.h>

#include <numeric>

namespace icepath::analysis {
namespace {

TEST(LatencyOverTime, EdgesHoldTheirValues)
{
	for (const uint64_t ns : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{8}, uint64_t{9},
							  uint64_t{1000}, uint64_t{1023}, uint64_t{1024}, uint64_t{123'456'789}, UINT64_MAX}) {
		const size_t bin = latency_bin(ns);
		EXPECT_LE(lower_edge_ns(bin), static_cast<double>(ns));
		EXPECT_GE(lower_edge_ns(bin + 1), static_cast<double>(ns)); // UINT64_MAX rounds up to the edge
		EXPECT_LE(lower_edge_ns(bin + 1), 1.126 * lower_edge_ns(bin));
	}
	EXPECT_EQ(latency_bin(0), latency_bin(1));
	EXPECT_EQ(latency_bin(1024), latency_bin(1023) + 1);
}

TEST(LatencyOverTime, ABlocksBinsHaveItsMessages)
{
	LatencyOverTime over_time;
	over_time.add(5, 9, {1000, 1001, 1500, 4000});
	const LatencyColumn column = over_time.columns(1).at(0);
	EXPECT_EQ(column.messages, 4u);
	EXPECT_EQ(column.first_bin, latency_bin(1000));
	EXPECT_EQ(column.counts.front(), 2u);
	EXPECT_EQ(column.counts[latency_bin(1500) - column.first_bin], 1u);
	EXPECT_EQ(column.counts.back(), 1u);
	EXPECT_EQ(column.first_bin + column.counts.size() - 1, latency_bin(4000));
}

TEST(LatencyOverTime, NeighboursAreJoined)
{
	LatencyOverTime over_time;
	for (uint64_t i = 0; i < 10; ++i) {
		if (i == 3)
			over_time.add(299, 300, {}); // a block without messages has no place
		over_time.add(100 * i, 100 * i + 50, {uint64_t{1000} >> i, uint64_t{2000} << i});
	}
	const std::vector<LatencyColumn> columns = over_time.columns(4);
	ASSERT_EQ(columns.size(), 4u); // of 3, 3, 3 and 1 blocks
	EXPECT_EQ(columns[0].blocks, 3u);
	EXPECT_EQ(columns[3].blocks, 1u);
	EXPECT_EQ(columns[1].begin_ns, 300u);
	EXPECT_EQ(columns[1].finish_ns, 550u);
	for (const LatencyColumn &column : columns) {
		EXPECT_EQ(column.messages, 2 * column.blocks);
		EXPECT_EQ(std::accumulate(column.counts.begin(), column.counts.end(), uint64_t{0}), column.messages);
		EXPECT_GT(column.counts.front(), 0u);
		EXPECT_GT(column.counts.back(), 0u);
	}
	EXPECT_EQ(columns[1].first_bin, latency_bin(1000 >> 5));
	EXPECT_EQ(over_time.columns(100).size(), 10u);
	EXPECT_TRUE(LatencyOverTime().columns(4).empty());
}

} // namespace
} // namespace icepath::analysis
