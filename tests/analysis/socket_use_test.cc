// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/socket_use.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/report/synthetic_run.h"

namespace icepath::analysis {
namespace {

model::SocketGroup udp_sockets(uint32_t side, uint32_t count, uint64_t dropped, uint64_t retransmitted)
{
	model::SocketGroup group;
	group.side = side;
	group.domain = AF_INET;
	group.type = SOCK_DGRAM;
	group.count = count;
	group.dropped = dropped;
	group.retransmitted = retransmitted;
	return group;
}

TEST(SocketUse, SumsWhatEachSocketOfEachBlockLost)
{
	const model::Cell cell = socket_cell(model::Pattern::OneWay);
	model::SocketGroup other = udp_sockets(1, 1, 100, 1000);
	other.type = SOCK_STREAM;
	model::Block block = block_of(1);
	block.sockets = model::BlockSockets{{udp_sockets(0, 1, 1, 2), udp_sockets(1, 3, 10, 20), other}, {}, 65536};
	EXPECT_EQ(block.sockets->dropped(), 111u);
	EXPECT_EQ(block.sockets->retransmitted(), 1022u);
	block.sockets->counts.emplace().tcp_timeouts = 7;

	SocketUse use;
	use.add(block, cell, {});
	block.sockets->groups[1].count = 2;
	use.add(block, cell, {});
	block.sockets.reset();
	use.add(block, cell, {});
	EXPECT_EQ(use.dropped(), 222u);
	EXPECT_EQ(use.retransmitted(), 2044u);
	ASSERT_EQ(use.blocks.size(), 2u) << "the last one doesn't tell";
	EXPECT_EQ(use.blocks[0].dropped, 111u);
	ASSERT_EQ(use.ends[0].groups.size(), 1u);
	EXPECT_EQ(use.ends[0].groups[0].dropped, 2u);
	ASSERT_EQ(use.ends[1].groups.size(), 2u) << "unlike sockets";
	EXPECT_EQ(use.ends[1].groups[0].dropped, 20u);
	EXPECT_EQ(use.ends[1].groups[0].count, 3u) << "the most at once";
	EXPECT_EQ(use.counts.value().tcp_timeouts, 14u);
	EXPECT_EQ(use.counts->tcp_sent_again, model::kNotCounted);
	EXPECT_EQ(use.loopback_mtu, 65536u);
}

} // namespace
} // namespace icepath::analysis
