// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/messages.h"

#include <gtest/gtest.h>

#include "tests/report/synthetic_run.h"

namespace icepath::analysis {
namespace {

using model::Pattern;
using Times = std::vector<uint64_t>;

class OneWay : public testing::Test {
protected:
	void send(uint64_t seq, uint64_t at, uint32_t flags = 0)
	{
		block.flows[0].sends.push_back({seq, at - 5, at, at, 0, at, 1, flags, 0});
	}
	void recv(uint64_t seq, uint64_t at, uint32_t flags = 0)
	{
		block.flows[0].recvs.push_back({seq, 1, 0, 0, at, 0, at, 1, flags});
	}
	BlockMessages look() const { return look_at_messages(block, socket_cell(Pattern::OneWay)); }
	model::Block block = block_of(1);
};

TEST_F(OneWay, WithoutMessagesThereIsNothing)
{
	EXPECT_EQ(look().counts.sent, 0u);
	EXPECT_TRUE(look().latencies.by_flow[0].empty());
}

TEST_F(OneWay, LatencyIsRecvMinusSend)
{
	send(0, 100);
	send(1, 200);
	recv(0, 130);
	recv(1, 250);
	EXPECT_EQ(look().latencies.by_flow[0], (Times{30, 50}));
	EXPECT_EQ(look().latencies.pacing, (Times{5, 5}));
	EXPECT_EQ(look().latencies.from_due, (Times{35, 55}));
	EXPECT_TRUE(look().latencies.round_trip.empty());
}

TEST_F(OneWay, WarmUpIsNowhere)
{
	send(0, 100, model::kStampWarmUp);
	send(1, 200);
	recv(0, 130, model::kStampWarmUp | model::kStampBadPayload);
	recv(1, 210);
	const BlockMessages seen = look();
	EXPECT_EQ(seen.counts.sent, 1u);
	EXPECT_EQ(seen.counts.received, 1u);
	EXPECT_EQ(seen.counts.bad_payload, 0u);
	EXPECT_EQ(seen.latencies.by_flow[0], Times{10});
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
	recv(4, 530, model::kStampBadPayload);
	recv(77, 540);
	const MessageCounts counts = look().counts;
	EXPECT_EQ(counts.sent, 6u);
	EXPECT_EQ(counts.received, 4u);
	EXPECT_EQ(counts.lost, 2u);
	EXPECT_EQ(counts.duplicate, 1u);
	EXPECT_EQ(counts.reordered, 1u);
	EXPECT_EQ(counts.bad_payload, 2u);
	EXPECT_EQ(look().latencies.by_flow[0].size(), 4u) << "the duplicate has no latency of its own";
}

TEST_F(OneWay, ReceptionBeforeTheSendIsRefusedNotClamped)
{
	send(0, 100);
	recv(0, 99);
	EXPECT_EQ(look().counts.inverted, 1u);
	EXPECT_EQ(look().counts.received, 1u);
	EXPECT_TRUE(look().latencies.by_flow[0].empty());
}

TEST_F(OneWay, SpansGoFromTheFirstCountedMessageToTheLast)
{
	send(0, 100, model::kStampWarmUp);
	recv(0, 130, model::kStampWarmUp);
	send(1, 1000);
	EXPECT_FALSE(look().sent.per_s().has_value()) << "one message has no rate";
	send(2, 2000);
	send(3, 5000);
	recv(2, 3000);
	recv(3, 7000);
	recv(3, 99000); // twice
	recv(1, 5); // inverted: its stamp is impossible
	const BlockMessages seen = look();
	EXPECT_EQ(seen.sent.count, 3u);
	EXPECT_DOUBLE_EQ(seen.sent.per_s().value(), 2 / 4e-6);
	EXPECT_EQ(seen.received.count, 2u);
	EXPECT_DOUBLE_EQ(seen.received.per_s().value(), 1 / 4e-6);
}

TEST_F(OneWay, CountsMessagesThatComeWithTheNextOne)
{
	for (uint64_t seq = 0; seq < 10; ++seq)
		send(seq, 1000 * (seq + 1));
	for (uint64_t seq = 0; seq < 10; ++seq)
		recv(seq, seq == 3   ? 5010 // number 4 is sent at 5000
				  : seq == 6 ? 8700 // long after number 7
				  : seq == 8 ? 9900 // before number 9
							 : 1000 * (seq + 1) + 10);
	EXPECT_EQ(look().counts.after_next, 2u);
	EXPECT_EQ(look().counts.with_next, 1u);
}

TEST_F(OneWay, NoneComesWithTheNextOneThatItsSenderKept)
{
	for (uint64_t seq = 0; seq < 10; ++seq) {
		send(seq, 1000 * (seq + 1));
		recv(seq, seq == 3 ? 5010 : 1000 * (seq + 1) + 10);
	}
	EXPECT_EQ(look().counts.with_next, 1u);
	model::SendStamp &kept = block.flows[0].sends[3], &next = block.flows[0].sends[4];
	kept.return_ns = 4990;
	EXPECT_EQ(look().counts.after_next, 0u) << "it was in its call until then";
	kept.return_ns = 0;
	EXPECT_EQ(look().counts.after_next, 0u) << "nobody tells when it was out of it";
	kept.return_ns = 4020;
	EXPECT_EQ(look().counts.after_next, 1u);
	next.intended_ns = 4400;
	EXPECT_EQ(look().counts.after_next, 0u) << "the sender stood still, and its library's threads perhaps too";
}

TEST_F(OneWay, NoneComesWithTheNextOneWhereMessagesMostlyTakeAsLong)
{
	for (uint64_t seq = 0; seq < 10; ++seq) {
		send(seq, 1000 * (seq + 1));
		recv(seq, 1000 * (seq + 2) + 10);
	}
	EXPECT_EQ(look().counts.after_next, 0u);
}

TEST(Span, WithoutTimeThereIsNoRate)
{
	Span span;
	EXPECT_FALSE(span.per_s().has_value());
	span.add(7);
	span.add(7);
	EXPECT_FALSE(span.per_s().has_value());
	span.add(5);
	EXPECT_DOUBLE_EQ(span.per_s().value(), 1e9);
}

TEST_F(OneWay, SendCallsAreOfCountedMessagesThatMadeOne)
{
	for (uint64_t seq = 0; seq < 4; ++seq)
		send(seq, 1000 * (seq + 1), seq == 0 ? model::kStampWarmUp : 0);
	block.flows[0].sends[0].return_ns += 7; // warm-up
	block.flows[0].sends[1].return_ns += 30;
	block.flows[0].sends[2].call_ns = 0; // none was made
	block.flows[0].sends[3].return_ns = 5; // impossible
	EXPECT_EQ(look().latencies.send_call, Times{30});
}

TEST_F(OneWay, CountsWhatTheKernelCopiedAfterAll)
{
	send(0, 100, model::kStampWarmUp | model::kStampCopied);
	send(1, 200, model::kStampCopied);
	send(2, 300);
	recv(2, 310, model::kStampCopied);
	EXPECT_EQ(look().counts.copied_after_all, 1u);
}

TEST_F(OneWay, LateMessagesAreCountedByThePeriodAndKeptInTheLatencies)
{
	// 2000 messages a second: 500 µs of period, of which 20 % is late.
	EXPECT_EQ(lateness_of(socket_cell(Pattern::OneWay)).late_ns, 100'000u);
	EXPECT_EQ(lateness_of(socket_cell(Pattern::OneWay)).too_late_ns, 500'000u);
	uint64_t seq = 0;
	const Times latencies = {100'000, 100'001, 500'000, 500'001, 900'000'000};
	for (const uint64_t ns : latencies) {
		send(seq, 1'000'000 * (seq + 1));
		recv(seq, 1'000'000 * (seq + 1) + ns);
		++seq;
	}
	const BlockMessages seen = look();
	EXPECT_EQ(seen.counts.late, 2u);
	EXPECT_EQ(seen.counts.too_late, 2u) << "too late is not late as well";
	EXPECT_EQ(seen.latencies.by_flow[0], latencies);
}

TEST(Lateness, IsNeverMoreThanTheAbsoluteTimes)
{
	model::Cell slow = socket_cell(Pattern::OneWay);
	slow.rate_hz = 1;
	for (const model::Cell &cell : {slow, socket_cell(Pattern::PingPong)}) {
		EXPECT_EQ(lateness_of(cell).late_ns, 5'000'000u);
		EXPECT_EQ(lateness_of(cell).too_late_ns, 50'000'000u);
	}
	slow.rate_hz = 30; // between: late by the absolute time, too late by the period
	EXPECT_EQ(lateness_of(slow).late_ns, 5'000'000u);
	EXPECT_EQ(lateness_of(slow).too_late_ns, 33'333'333u);
	model::Cell bursts = socket_cell(Pattern::OneWay);
	bursts.pattern = Pattern::Burst;
	bursts.rate_hz = std::nullopt;
	bursts.levels.demand = 100;
	bursts.levels.recovery_ns = 10'000'000;
	EXPECT_EQ(lateness_of(bursts).late_ns, 2'000'000u);
	EXPECT_EQ(lateness_of(bursts).too_late_ns, 10'000'000u) << "when the next burst is due";
	slow.rate_hz = 1e-300;
	EXPECT_EQ(lateness_of(slow).too_late_ns, 50'000'000u);
}

TEST(Jitter, IsOfLatenciesThatFollowEachOther)
{
	Jitter jitter;
	jitter.add({});
	jitter.add({1'000'000});
	EXPECT_EQ(jitter.count, 0u) << "one message differs from none";
	jitter.add({10, 30, 20});
	jitter.add({500, 500}); // another block, so no change from the last message
	EXPECT_EQ(jitter.count, 3u);
	EXPECT_EQ(jitter.sum_ns, 20 + 10 + 0);
}

TEST_F(OneWay, LatenciesAreInTheOrderOfArrival)
{
	send(0, 100);
	send(1, 200);
	send(2, 300);
	recv(0, 110);
	recv(2, 330);
	recv(1, 340);
	EXPECT_EQ(look().latencies.by_flow[0], (Times{10, 30, 140}));
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
	EXPECT_EQ(look().latencies.by_flow[0], (Times{30, 40}));
}

TEST(RequestResponse, EndsWithTheLastResponse)
{
	model::Cell cell = socket_cell(Pattern::ReqRep);
	cell.levels.responses = 2;
	model::Block block = block_of(2);
	for (const uint64_t seq : {0, 1})
		block.flows[0].sends.push_back({seq, 0, 100 * seq + 10, 0, 0, 0, 1, 0, 0});
	for (const uint64_t seq : {0, 1, 2, 3}) {
		block.flows[1].sends.push_back({seq, 0, 50 * seq + 30, 0, 0, 0, 1, 0, 0});
		if (seq != 2)
			block.flows[1].recvs.push_back({seq, 1, 0, 0, 0, 0, 50 * seq + 35, 1, 0});
	}
	const BlockMessages seen = look_at_messages(block, cell);
	EXPECT_EQ(seen.latencies.by_flow[1], (Times{5, 5, 5}));
	EXPECT_EQ(seen.latencies.first_response, Times{25}) << "the first response to message 1 is lost";
	EXPECT_EQ(seen.latencies.round_trip, (Times{75, 75}));
	EXPECT_TRUE(seen.latencies.to_all.empty());
}

TEST(FanOut, IsThereWhenTheLastReceiverHasIt)
{
	model::Cell cell = socket_cell(Pattern::FanOut);
	cell.graph = model::star(1, {0, 1, 1}, model::Between::Processes, false);
	model::Block block = block_of(2);
	for (const uint64_t seq : {0, 1, 2})
		for (model::BlockFlow &flow : block.flows)
			flow.sends.push_back({seq, 0, 100 * seq + 10, 0, 0, 0, 1, seq == 0 ? model::kStampWarmUp : 0, 0});
	block.flows[0].recvs = {
		{0, 1, 0, 0, 0, 0, 50, 1, model::kStampWarmUp}, {1, 1, 0, 0, 0, 0, 240, 1, 0}, {2, 1, 0, 0, 0, 0, 230, 1, 0}};
	block.flows[1].recvs = {{0, 1, 0, 0, 0, 0, 60, 1, model::kStampWarmUp}, {1, 1, 0, 0, 0, 0, 190, 1, 0}};
	const BlockMessages seen = look_at_messages(block, cell);
	EXPECT_EQ(seen.latencies.by_flow, (std::vector<Times>{{130, 20}, {80}}));
	EXPECT_EQ(seen.latencies.to_all, Times{130}) << "message 2 is lost on its way to the second";
	EXPECT_EQ(seen.counts.sent, 4u);
	EXPECT_EQ(seen.counts.lost, 1u);
	EXPECT_TRUE(seen.latencies.round_trip.empty());
}

TEST(FanIn, HasThePacingOfEverySenderAndLatenessOfItsOwnPeriod)
{
	model::Cell cell = socket_cell(Pattern::FanIn);
	cell.graph = model::star(2, {0, 0, 1}, model::Between::Processes, false);
	cell.rate_hz = 2000;
	EXPECT_EQ(lateness_of(cell).too_late_ns, 1'000'000u) << "each sender's messages are a millisecond apart";
	model::Block block = block_of(2);
	for (const uint64_t sender : {0, 1})
		block.flows[sender].sends.push_back({0, 100 + 500 * sender, 110 + 510 * sender, 0, 0, 0, 1, 0, 0});
	block.flows[0].recvs.push_back({0, 1, 0, 0, 0, 0, 150, 1, 0});
	block.flows[1].recvs.push_back({0, 1, 0, 0, 0, 0, 650, 1, 0});
	const BlockMessages seen = look_at_messages(block, cell);
	EXPECT_EQ(seen.latencies.by_flow, (std::vector<Times>{{40}, {30}}));
	EXPECT_EQ(seen.latencies.pacing, (Times{10, 20}));
	EXPECT_EQ(seen.latencies.from_due, (Times{50, 50}));
	EXPECT_TRUE(seen.latencies.to_all.empty());
	EXPECT_EQ(seen.counts.sent, 2u);
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
	EXPECT_EQ(seen.latencies.by_flow[0], Times(3, kPlainNs));
	EXPECT_EQ(seen.latencies.by_flow[1], Times(3, kPlainNs + 40));
	EXPECT_EQ(seen.latencies.round_trip, Times(3, 2 * kPlainNs + 40 + 500));
	EXPECT_TRUE(seen.latencies.pacing.empty());
	EXPECT_TRUE(seen.latencies.from_due.empty());
	EXPECT_EQ(seen.latencies.send_call, Times(6, 1700));
	EXPECT_EQ(seen.sent.count, 6u);
	EXPECT_EQ(seen.received.count, 6u);
}

} // namespace
} // namespace icepath::analysis
