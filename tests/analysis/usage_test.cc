// SPDX-License-Identifier: Apache-2.0
// What a run's blocks show besides latency: CPU time, usage, throughput, jitter, lateness.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/report/few_blocks.h"

namespace icepath::analysis {
namespace {

using model::Pattern;
using Measures = FewBlocks;

TEST_F(Measures, CpuTimeIsPerMessageOfUnprobedBlocks)
{
	model::Block probed = block(1, true);
	probed.sides[0].usage.user_ns = 1'000'000'000;
	const auto cpu = of({block(0, false), probed}).cells[1].used.cpu_per_message;
	ASSERT_TRUE(cpu.has_value());
	EXPECT_DOUBLE_EQ((*cpu)[0].user_ns, 1000);
	EXPECT_DOUBLE_EQ((*cpu)[1].system_ns, 3000);
}

TEST_F(Measures, ADaemonsCpuTimeIsPerMessageOfUnprobedBlocks)
{
	std::vector<model::Block> blocks = {block(0, false), block(1, true), block(2, false)};
	for (size_t i = 0; i < blocks.size(); ++i)
		blocks[i].daemon_cpu_ns = (i + 1) * 100 * blocks[i].flows[0].sends.size();
	const auto per_message = of(blocks).cells[1].used.daemon_cpu_ns_per_message;
	ASSERT_TRUE(per_message);
	EXPECT_DOUBLE_EQ(*per_message, 200) << "the mean of 100 and 300";
}

TEST_F(Measures, UsageIsTheSumOverUnprobedBlocksThatDidntFail)
{
	std::vector<model::Block> blocks = {block(0, false), block(1, true), block(2, false), block(3, false)};
	blocks[3].end = model::BlockEnd::Failed;
	for (size_t i = 0; i < blocks.size(); ++i) {
		model::Usage &usage = blocks[i].sides[1].usage;
		usage.voluntary_switches = 10 + i;
		usage.minor_faults = 1;
		usage.block_outputs = 3;
		usage.max_rss_kib = i == 0 ? 5000 : 4000;
	}
	const auto usage = of(blocks).cells[1].used.totals;
	ASSERT_TRUE(usage.has_value());
	EXPECT_EQ(usage->messages, 2u * 102);
	EXPECT_EQ(usage->ends[1].voluntary_switches, 10u + 12);
	EXPECT_EQ(usage->ends[1].minor_faults, 2u);
	EXPECT_EQ(usage->ends[1].block_outputs, 6u);
	EXPECT_EQ(usage->ends[1].max_rss_kib, 5000u) << "no sum";
	EXPECT_EQ(usage->ends[0].voluntary_switches, 0u);
}

TEST_F(Measures, WithoutAnUnprobedBlockThereIsNoUsageJitterOrThroughput)
{
	const CellResult cell = of({block(0, true)}).cells[1];
	EXPECT_FALSE(cell.used.totals.has_value());
	EXPECT_FALSE(cell.times.jitter_ns.has_value());
	EXPECT_FALSE(cell.throughput.sent_per_s.has_value());
	EXPECT_FALSE(cell.throughput.received_per_s.has_value());
	EXPECT_EQ(cell.times.send_call.count, 0u);
}

// Messages of the synthetic run follow after 3000 ns of rest, so a delayed message shifts the next one.
TEST_F(Measures, ThroughputIsTheMedianOfTheBlocks)
{
	std::vector<model::Block> blocks;
	for (const uint64_t delay : {0, 1000, 500'000}) {
		BlockPlan plan;
		plan.cell = 1;
		plan.round = static_cast<uint32_t>(blocks.size());
		plan.delay_ns = [&](uint64_t, size_t) { return delay; };
		blocks.push_back(make_block(socket_cell(Pattern::OneWay), plan));
	}
	blocks.push_back(block(3, true));
	const CellResult cell = of(blocks).cells[1];
	EXPECT_NEAR(cell.throughput.sent_per_s.value(), 1e9 / (kPlainNs + 1000 + 3000), 1e-6);
	EXPECT_NEAR(cell.throughput.received_per_s.value(), 1e9 / (kPlainNs + 1000 + 3000), 1e-6);
}

TEST_F(Measures, JitterIsWithinBlocksAndDirectionsWithoutProbes)
{
	std::vector<model::Block> blocks;
	for (uint32_t round = 0; round < 3; ++round) {
		BlockPlan plan;
		plan.round = round;
		plan.probed = round == 2;
		// Directions and blocks differ much; consecutive messages differ by 30 or 0.
		plan.delay_ns = [&](uint64_t seq, size_t from) -> uint64_t {
			return (plan.probed ? 7 * seq : 0) + 10'000 * round + 1000 * from + (from == 0 ? seq % 2 * 30 : 0);
		};
		blocks.push_back(make_block(socket_cell(Pattern::PingPong), plan));
	}
	const CellResult cell = of(blocks).cells[0];
	ASSERT_TRUE(cell.times.jitter_ns.has_value());
	EXPECT_DOUBLE_EQ(*cell.times.jitter_ns, 15);
	EXPECT_EQ(cell.times.send_call.count, 400u);
	EXPECT_EQ(cell.times.send_call.min, 1700u);
	EXPECT_EQ(cell.times.send_call.max, 1700u);
	EXPECT_DOUBLE_EQ(cell.times.send_call.mean, 1700);
}

TEST_F(Measures, LateMessagesAreOfAllBlocksAndStayInTheLatency)
{
	std::vector<model::Block> blocks;
	for (const bool probed : {false, true}) {
		BlockPlan plan;
		plan.cell = 1;
		plan.round = probed;
		plan.probed = probed;
		plan.delay_ns = [](uint64_t seq, size_t) -> uint64_t { return seq == 50 ? 200'000 : seq == 60 ? 600'000 : 0; };
		blocks.push_back(make_block(socket_cell(Pattern::OneWay), plan));
	}
	const CellResult cell = of(blocks).cells[1];
	EXPECT_EQ(cell.messages.late, 2u);
	EXPECT_EQ(cell.messages.too_late, 2u);
	EXPECT_EQ(cell.times.latency.count, 100u);
	EXPECT_EQ(cell.times.latency.max, kPlainNs + 600'000);
}

} // namespace
} // namespace icepath::analysis
