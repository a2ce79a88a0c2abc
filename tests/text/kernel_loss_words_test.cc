// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/kernel_loss_words.h"

#include <gtest/gtest.h>

#include "profiler/explain/kernel_losses.h"
#include "profiler/text/finding_words.h"

namespace icepath::text {
namespace {

std::string told_of(const std::optional<explain::Finding> &finding) { return finding ? words({}, *finding) : ""; }
std::string stalls_with_drops(const analysis::CellResult &cell) { return told_of(explain::stalls_with_drops(cell, 0)); }
std::string brought_by_next(const analysis::CellResult &cell) { return told_of(explain::brought_by_next(cell, 0)); }

constexpr uint64_t kMs = 1'000'000;

// A cell whose sockets and namespace counted so much.
analysis::CellResult cell_with(uint64_t lost, uint64_t dropped, const model::KernelCounts &counts = {})
{
	analysis::CellResult cell;
	cell.messages.sent = 1000;
	cell.messages.lost = lost;
	cell.sockets.blocks = {{1000, dropped, 0}};
	cell.sockets.counts = counts;
	return cell;
}

TEST(WhereLost, IsTheReceiveBufferIfBothTheSocketAndItsNamespaceCountedIt)
{
	model::KernelCounts counts;
	counts.udp_receive_buffer_full = 9; // others in the namespace have dropped as well
	EXPECT_EQ(where_lost(cell_with(7, 7, counts)), ": 7 datagrams dropped at full receive buffers of its own sockets");
	EXPECT_EQ(where_lost(cell_with(6, 7, counts)),
			  ": 7 datagrams dropped at full receive buffers of its own sockets, warm-up included");
	counts.udp_receive_buffer_full = 5;
	EXPECT_EQ(where_lost(cell_with(7, 7, counts)),
			  ": 5 datagrams dropped at full receive buffers of its own sockets; 2 others dropped at its own sockets");
	counts.udp_receive_buffer_full = 0;
	EXPECT_EQ(where_lost(cell_with(7, 7, counts)), ": 7 packets dropped at its own sockets");
}

TEST(WhereLost, NamesPlacesOfTheNamespaceAsThose)
{
	model::KernelCounts counts;
	counts.backlog_dropped = 3;
	EXPECT_EQ(where_lost(cell_with(7, 0, counts)), ": 3 packets dropped at CPUs' backlogs, in the whole machine");
	counts.loopback_dropped = 2;
	EXPECT_EQ(where_lost(cell_with(7, 0, counts)), ": 2 packets dropped by the loopback device, in its network "
												   "namespace; 3 packets dropped at CPUs' backlogs, in the whole "
												   "machine");
}

TEST(WhereLost, SaysNothingThatIsNotKnown)
{
	EXPECT_EQ(where_lost(cell_with(0, 7)), "") << "nothing was lost";
	EXPECT_EQ(where_lost(cell_with(7, 0)), ": the kernel counted no drop");
	analysis::CellResult cell = cell_with(7, 0);
	cell.sockets.counts.reset();
	EXPECT_EQ(where_lost(cell), "");
	cell.sockets.blocks.clear();
	EXPECT_EQ(where_lost(cell), "");
}

// Blocks: those with a stall and a drop, with a stall alone, with a drop alone, with neither.
analysis::CellResult cell_of(size_t both, size_t stalls, size_t drops, size_t neither)
{
	analysis::CellResult cell;
	const auto add = [&](size_t number, uint64_t longest_ns, uint64_t dropped) {
		for (size_t i = 0; i < number; ++i)
			cell.sockets.blocks.push_back({longest_ns, dropped, 0});
	};
	add(both, 120 * kMs, 4);
	add(stalls, 120 * kMs, 0);
	add(drops, kMs, 4);
	add(neither, kMs, 0);
	cell.sockets.counts.emplace().udp_receive_buffer_full = cell.sockets.dropped();
	return cell;
}

TEST(StallsWithDrops, AreToldIfTheyComeTogether)
{
	EXPECT_EQ(
		stalls_with_drops(cell_of(8, 0, 1, 11)),
		"a message took 10.0 ms or longer in 8 blocks: in 8 of these the kernel dropped datagrams at full receive "
		"buffers of its own sockets (36 in all), and in 1 of 12 blocks without");
}

TEST(StallsWithDrops, AreNotToldIfChanceMayHaveDoneIt)
{
	EXPECT_EQ(stalls_with_drops(cell_of(0, 0, 0, 20)), "");
	EXPECT_EQ(stalls_with_drops(cell_of(0, 8, 0, 12)), "") << "stalls of another cause";
	EXPECT_EQ(stalls_with_drops(cell_of(8, 8, 0, 12)), "") << "half of them have another cause";
	EXPECT_EQ(stalls_with_drops(cell_of(3, 0, 15, 2)), "") << "drops are everywhere, and stalls in few blocks";
	EXPECT_EQ(stalls_with_drops(cell_of(2, 0, 0, 1)), "") << "too few";
}

// Such as a busy machine makes; a drop is sent again after 120 ms.
TEST(StallsWithDrops, AreToldBesideShorterStallsOfAnotherCause)
{
	analysis::CellResult cell = cell_of(8, 0, 0, 12);
	for (size_t i = 8; i < 14; ++i)
		cell.sockets.blocks[i].longest_ns = 25 * kMs;
	const std::string text = stalls_with_drops(cell);
	EXPECT_TRUE(text.starts_with("a message took 40.0 ms or longer in 8 blocks: in 8 of these")) << text;
	EXPECT_TRUE(text.ends_with(", and in 0 of 12 blocks without")) << text;
	for (size_t i = 8; i < 14; ++i)
		cell.sockets.blocks[i].longest_ns = 125 * kMs;
	EXPECT_EQ(stalls_with_drops(cell), "") << "as long as those of drops";
}

TEST(StallsWithDrops, AreToldByTheChanceOfAllLengthsTogether)
{
	analysis::CellResult cell = cell_of(3, 0, 0, 8);
	EXPECT_NE(stalls_with_drops(cell), "") << "by chance once in 165 times, and all stalls have one length";
	cell.sockets.blocks[3].longest_ns = 25 * kMs;
	EXPECT_EQ(stalls_with_drops(cell), "") << "twice once in 165 times, as two lengths were tried";
	cell.sockets.blocks.push_back({kMs, 0, 0});
	EXPECT_NE(stalls_with_drops(cell), "") << "twice once in 220 times";
}

TEST(StallsWithDrops, SayIfThereIsNothingToCompareWith)
{
	const std::string text = stalls_with_drops(cell_of(9, 0, 0, 0));
	EXPECT_NE(text.find("as every block does: there is no block to compare with"), std::string::npos) << text;
}

TEST(StallsWithDrops, AreOfSlowMessagesOnly)
{
	analysis::CellResult cell = cell_of(8, 0, 1, 11);
	cell.times.latency.percentiles[0] = 60 * kMs;
	EXPECT_EQ(stalls_with_drops(cell), "") << "120 ms is no stall where a message takes 60";
}

TEST(BroughtByNext, IsToldIfItIsMoreThanChance)
{
	analysis::CellResult cell;
	cell.messages.sent = 1000;
	const auto told = [&](uint64_t after, uint64_t with) {
		cell.messages.after_next = after;
		cell.messages.with_next = with;
		return brought_by_next(cell);
	};
	EXPECT_EQ(told(0, 0), "");
	EXPECT_EQ(told(9, 9), "") << "too few";
	EXPECT_EQ(told(100, 12), "") << "a receiver that stood still";
	EXPECT_EQ(told(20, 19), "19 of 1000 messages came only with the next one, of 20 that came after the next one was "
							"sent: something holds a message until another follows");
}

} // namespace
} // namespace icepath::text
