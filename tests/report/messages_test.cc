// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/messages.h"

#include <gtest/gtest.h>

#include "tests/report/synthetic_run.h"

namespace icepath::report {
namespace {

using rundir::Pattern;
using Times = std::vector<uint64_t>;

class OneWay : public testing::Test {
protected:
	void send(uint64_t seq, uint64_t at, uint32_t flags = 0)
	{
		block.sides[0].sends.push_back({seq, at - 5, at, at, 0, at, 1, flags, 0});
	}
	void recv(uint64_t seq, uint64_t at, uint32_t flags = 0)
	{
		block.sides[1].recvs.push_back({seq, 1, 0, 0, at, 0, at, 1, flags});
	}
	BlockMessages look() const { return look_at_messages(block, socket_cell(Pattern::OneWay)); }
	rundir::Block block;
};

TEST_F(OneWay, WithoutMessagesThereIsNothing)
{
	EXPECT_EQ(look().counts.sent, 0u);
	EXPECT_TRUE(look().latencies.one_way[0].empty());
}

TEST_F(OneWay, LatencyIsRecvMinusSend)
{
	send(0, 100);
	send(1, 200);
	recv(0, 130);
	recv(1, 250);
	EXPECT_EQ(look().latencies.one_way[0], (Times{30, 50}));
	EXPECT_EQ(look().latencies.pacing, (Times{5, 5}));
	EXPECT_TRUE(look().latencies.round_trip.empty());
}

TEST_F(OneWay, LeadInIsNowhere)
{
	send(0, 100, rundir::kStampLeadIn);
	send(1, 200);
	recv(0, 130, rundir::kStampLeadIn | rundir::kStampBadPayload);
	recv(1, 210);
	const BlockMessages seen = look();
	EXPECT_EQ(seen.counts.sent, 1u);
	EXPECT_EQ(seen.counts.received, 1u);
	EXPECT_EQ(seen.counts.bad_payload, 0u);
	EXPECT_EQ(seen.latencies.one_way[0], Times{10});
	EXPECT_EQ(seen.latencies.pacing.size(), 1u);
}

TEST_F(OneWay, CountsWhatWentWrong)
{
	for (uint64_t seq = 0; seq < 6; ++seq)
		send(seq, 100 * (seq + 1));
	recv(0, 110);
	recv(3, 500);
	recv(1, 510);
	recv(1, 520);
	recv(4, 530, rundir::kStampBadPayload);
	recv(77, 540);
	const MessageCounts counts = look().counts;
	EXPECT_EQ(counts.sent, 6u);
	EXPECT_EQ(counts.received, 4u);
	EXPECT_EQ(counts.lost, 2u);
	EXPECT_EQ(counts.duplicate, 1u);
	EXPECT_EQ(counts.reordered, 1u);
	EXPECT_EQ(counts.bad_payload, 2u);
	EXPECT_EQ(look().latencies.one_way[0].size(), 4u) << "the duplicate has no latency of its own";
}

TEST_F(OneWay, ReceptionBeforeTheSendIsRefusedNotClamped)
{
	send(0, 100);
	recv(0, 99);
	EXPECT_EQ(look().counts.inverted, 1u);
	EXPECT_EQ(look().counts.received, 1u);
	EXPECT_TRUE(look().latencies.one_way[0].empty());
}

TEST_F(OneWay, StampsInAnyOrderAndTwiceAreNoProblem)
{
	send(5, 500);
	send(2, 200);
	send(2, 999);
	recv(2, 230);
	recv(5, 540);
	EXPECT_EQ(look().counts.sent, 2u);
	EXPECT_EQ(look().counts.lost, 0u);
	EXPECT_EQ(look().latencies.one_way[0], (Times{30, 40}));
}

TEST(PingPong, HasBothWaysAndTheRoundTrip)
{
	const auto cell = socket_cell(Pattern::PingPong);
	BlockPlan plan;
	plan.messages = 3;
	plan.delay_ns = [](uint64_t, size_t from) { return from == 1 ? 40 : 0; };
	const BlockMessages seen = look_at_messages(make_block(cell, plan), cell);
	EXPECT_EQ(seen.counts.sent, 6u);
	EXPECT_EQ(seen.counts.received, 6u);
	EXPECT_EQ(seen.latencies.one_way[0], Times(3, kPlainNs));
	EXPECT_EQ(seen.latencies.one_way[1], Times(3, kPlainNs + 40));
	EXPECT_EQ(seen.latencies.round_trip, Times(3, 2 * kPlainNs + 40 + 500));
	EXPECT_TRUE(seen.latencies.pacing.empty());
}

} // namespace
} // namespace icepath::report
