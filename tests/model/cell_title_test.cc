// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"

#include <gtest/gtest.h>

namespace icepath::model {
namespace {

TEST(CellTitle, NamesWhatCellsDifferBy)
{
	Cell cell;
	cell.target = "uds-stream";
	EXPECT_EQ(title(cell), "uds-stream 64 B pingpong block");
	cell.pattern = Pattern::OneWay;
	cell.wait = Wait::Epoll;
	cell.payload_bytes = 1 << 20;
	EXPECT_EQ(title(cell), "uds-stream 1 MiB oneway epoll");
	cell.levels.sender_user_ns = 20'000;
	cell.levels.receiver_busy_ns = 1'500;
	EXPECT_EQ(title(cell), "uds-stream 1 MiB oneway epoll +20 µs sender +1.5 µs receiver");
	EXPECT_EQ(title(cell), cell.target + " " + variant(cell));
	cell = {};
	cell.pattern = Pattern::Burst;
	cell.levels.demand = 100;
	cell.levels.recovery_ns = 2'500'000;
	EXPECT_EQ(variant(cell), "64 B burst block 100/2.5ms");
	cell = {};
	cell.pattern = Pattern::MaxRate;
	cell.limits = {0.001, 500'000};
	EXPECT_EQ(variant(cell), "64 B max-rate block 0.1%/0.5ms");
}

TEST(CellTitle, SidesOfAFanInAreNumbered)
{
	Cell cell;
	cell.pattern = Pattern::FanIn;
	cell.levels.senders = 3;
	cell.graph = star(3, {0, 2, 0, 1}, Between::Processes, false);
	EXPECT_EQ(variant(cell), "64 B fanin block from 3");
	EXPECT_EQ(side_name(cell, 0), "sender 1");
	EXPECT_EQ(side_name(cell, 2), "sender 3");
	EXPECT_EQ(side_name(cell, 3), "receiver");
	EXPECT_EQ(cell.graph.flows, (std::vector<Flow>{{0, 3, 0}, {1, 3, 1}, {2, 3, 2}}));
	EXPECT_EQ(due_hz(cell), std::nullopt);
	cell.rate_hz = 300;
	EXPECT_EQ(due_hz(cell), 100) << "of each sender";
	cell.pattern = Pattern::FanOut;
	cell.graph = star(1, {0, 2, 0, 1}, Between::Processes, false);
	EXPECT_EQ(cell.graph.flows, (std::vector<Flow>{{0, 1, 0}, {0, 2, 1}, {0, 3, 2}}));
	EXPECT_EQ(due_hz(cell), 300);
}

TEST(CellTitle, SaysWhereTheSidesAreUnlessInProcessesOfTheirOwn)
{
	Cell cell;
	cell.target = "pipe";
	cell.graph = star(1, {0, 1}, Between::Threads, true);
	cell.levels.idle_channels = 2;
	EXPECT_EQ(title(cell), "pipe 64 B pingpong block threads +2 idle");
	EXPECT_EQ(side_name(cell, 0), "initiator");
	EXPECT_EQ(side_name(cell, 1), "responder");
	cell.graph = star(1, {0, 0}, Between::OneThread, false);
	cell.pattern = Pattern::OneWay;
	EXPECT_EQ(title(cell), "pipe 64 B oneway block one-thread +2 idle");
	cell.qos[ICEPATH_QOS_RELIABILITY] = ICEPATH_BEST_EFFORT;
	cell.qos[ICEPATH_QOS_DEPTH] = 16;
	cell.qos[ICEPATH_QOS_DEADLINE] = 1'500'000;
	cell.qos[ICEPATH_QOS_LEASE] = ICEPATH_QOS_INFINITE;
	EXPECT_EQ(title(cell),
			  "pipe 64 B oneway block one-thread +2 idle best-effort depth 16 deadline 1.5ms lease infinite");
	EXPECT_EQ(side_name(cell, 0), side_name(cell, 1)) << "it is one thread";
}

TEST(CellTitle, PayloadsAreExact)
{
	EXPECT_EQ(payload_text(64), "64 B");
	EXPECT_EQ(payload_text(1000), "1000 B");
	EXPECT_EQ(payload_text(1024), "1 KiB");
	EXPECT_EQ(payload_text(4096), "4 KiB");
	EXPECT_EQ(payload_text(1 << 20), "1 MiB");
	EXPECT_EQ(payload_text((1 << 20) + 1024), "1025 KiB");
	EXPECT_EQ(payload_text((1 << 20) + 1), "1048577 B");
}

} // namespace
} // namespace icepath::model
