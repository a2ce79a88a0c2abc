// SPDX-License-Identifier: Apache-2.0
// One thread has both ends: it gives a message and takes it, so both sides of a block are one thread.
#include <gtest/gtest.h>

#include "profiler/model/stamps.h"
#include "tests/decode/capture_by_hand.h"

namespace icepath::decode {
namespace {

// Capture's message, taken by its sender: asked for at 250, taken by a call [260, 600), recv at 700.
struct OneThread : Capture {
	explicit OneThread(model::Mechanisms mechanisms, unsigned messages = 1) : Capture(mechanisms, messages)
	{
		cell.graph = model::star(1, {0, 0}, model::Between::OneThread, false);
		window().threads.resize(1);
		block.sides[1] = block.sides[0];
		for (unsigned i = 0; i < messages; ++i)
			block.flows[0].recvs[i] = recv_at(i, start(i));
	}
	static model::RecvStamp recv_at(uint64_t seq, uint64_t t)
	{
		return {seq, t + 250, 0, t + 260, t + 600, 0, t + 700, 1, 0};
	}
	icepath_record &off(uint64_t out, uint64_t in, icepath_off_reason reason)
	{
		icepath_record &record = add(0, ICEPATH_RECORD_OFF_CPU, in, kSender);
		record.off.out_ns = out;
		record.off.reason = reason;
		return record;
	}
};

TEST(OneThread, AsksAfterItHasSentSoThatTheMessageWaitsInItsQueue)
{
	OneThread capture(kUnixSocket);
	capture.ready(1150);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 50 | 1:queue/busy 100 | 1:receiver.user 10 | "
							  "1:receiver.kernel 340 | 1:receiver.user 100");
	EXPECT_EQ(capture.decoded().threads.size(), 1u);
}

TEST(OneThread, WithoutAnEventHasItReadyByTheReturnOfTheCall)
{
	OneThread capture(model::Mechanisms{});
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 100~ | 1:queue/busy 50 | 1:receiver.user 10 | "
							  "1:receiver.kernel 340 | 1:receiver.user 100");
	const Observations seen = capture.decoded();
	const Boundary ready = walk(seen, seen.deliveries.at(0)).segments.at(1).end;
	EXPECT_EQ(ready.earliest_ns, 1100u);
	EXPECT_EQ(ready.latest_ns, 1200u);
}

TEST(OneThread, LooksIntoItsOwnSlot)
{
	OneThread capture({Mechanism::UserSlot});
	capture.cell.wait = model::Wait::Spin;
	capture.block.flows[0].sends[0] = {0, 1000, 1000, 0, 1100, 0, 1, 0, 0};
	capture.block.flows[0].recvs[0] = {0, 1120, 0, 0, 0, 1150, 1200, 1, 0};
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 1:queue/busy 20 | 1:propagation 30 | 1:receiver.user 50");
}

TEST(OneThread, ThatHasLostItsCpuLetsTheMessageWait)
{
	OneThread capture(kUnixSocket);
	capture.ready(1150);
	capture.off(1170, 1190, ICEPATH_OFF_PREEMPTED);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 50 | 1:queue/busy 20 | 1:queue/preempted 20 | "
							  "1:queue/busy 60 | 1:receiver.user 10 | 1:receiver.kernel 340 | 1:receiver.user 100");
}

// The message was there before it asked, so it slept in its call for something else.
TEST(OneThread, ThatSleepsInItsReceivingCallSleepsForSomethingElse)
{
	OneThread capture(kUnixSocket);
	capture.ready(1150);
	icepath_record &sleep = capture.off(1300, 1400, ICEPATH_OFF_BLOCKED);
	sleep.off.waking_ns = 1350;
	sleep.off.wakeup_ns = 1360;
	sleep.off.waker_tid = kForeign;
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 50 | 1:queue/busy 100 | 1:receiver.user 10 | "
							  "1:receiver.kernel 40 | 1:blocked 60 by 99 | 1:runqueue 40 | 1:receiver.kernel 200 | "
							  "1:receiver.user 100");
}

// A kernel thread announced it only after the thread had gone to sleep in its call.
TEST(OneThread, MayHaveToWaitForASoftirqAllTheSame)
{
	OneThread capture(kTcp);
	Capture::stream(capture.device(1150, 100), 100);
	icepath_record &ready = capture.ready(1330, 55);
	Capture::stream(ready, 100);
	ready.context = ICEPATH_CONTEXT_SOFTIRQ;
	icepath_record &sleep = capture.off(1300, 1400, ICEPATH_OFF_BLOCKED);
	sleep.off.waking_ns = 1350;
	sleep.off.wakeup_ns = 1360;
	sleep.off.waker_tid = 55;
	sleep.context = ICEPATH_CONTEXT_SOFTIRQ;
	sleep.off.waker_vector = 3; // NET_RX
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 50 | 1:network 180 | 1:network/notify 20' | "
							  "1:wakeup 10 | 1:runqueue 40 | 1:receiver.kernel 200 | 1:receiver.user 100");
}

TEST(OneThread, AnswersItself)
{
	OneThread capture(kUnixSocket);
	capture.cell.pattern = model::Pattern::PingPong;
	capture.cell.graph = model::star(1, {0, 0}, model::Between::OneThread, true);
	capture.ready(1150);
	constexpr uint64_t kBack = 1750;
	capture.block.flows.push_back({kReceiverKey, kSenderKey, {}, {}});
	capture.block.flows[1].sends.push_back({0, kBack, kBack, kBack + 30, 0, kBack + 90, 1, 0, 0});
	capture.block.flows[1].recvs.push_back({0, kBack + 100, 0, kBack + 110, kBack + 150, 0, kBack + 160, 1, 0});
	capture.ready(kBack + 70).socket.socket = kSenderKey;
	EXPECT_EQ(capture.text(0), "0:sender.user 100 | 0:sender.kernel 50 | 1:queue/busy 100 | 1:receiver.user 10 | "
							   "1:receiver.kernel 340 | 1:receiver.user 100");
	EXPECT_EQ(capture.text(1), "0:sender.user 30 | 0:sender.kernel 40 | 1:queue/busy 30 | 1:receiver.user 10 | "
							   "1:receiver.kernel 40 | 1:receiver.user 10");
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.deliveries.size(), 2u);
	EXPECT_EQ(model::place_of(seen.deliveries[1].message).flow, 1u);
}

TEST(OneThread, CannotAskBeforeItHasSent)
{
	OneThread socket(kUnixSocket);
	socket.ready(1150);
	socket.block.flows[0].recvs[0].ask_ns = 1199;
	EXPECT_EQ(socket.text(), "inverted_time");
	OneThread slot({Mechanism::UserSlot});
	slot.cell.wait = model::Wait::Spin;
	slot.block.flows[0].sends[0] = {0, 1000, 1000, 0, 1100, 0, 1, 0, 0};
	slot.block.flows[0].recvs[0] = {0, 1099, 0, 0, 0, 1150, 1200, 1, 0};
	EXPECT_EQ(slot.text(), "inverted_time");
}

} // namespace
} // namespace icepath::decode
