// SPDX-License-Identifier: Apache-2.0
// What the walk refuses: lost records, contradictions, and missing evidence.
#include <gtest/gtest.h>

#include "tests/path/scene.h"

namespace icepath::path {
namespace {

// A complete path: sent at 100, call [110, 150), ready at 140, woken, recv at 270.
Scene complete()
{
	Scene scene;
	scene.delivery = {1, kSender, kReceiver, at(100), at(270)};
	Transfer &transfer = scene.transfer();
	transfer.call = at(110);
	transfer.call_return = at(150);
	transfer.ready = at(140);
	transfer.ready_tid = kSender;
	transfer.ask = at(50);
	transfer.take_call = at(52);
	transfer.take_return = at(260);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	return scene;
}

TEST(Refusal, LossWithinTheDelivery)
{
	Scene scene = complete();
	ASSERT_TRUE(scene.path().complete());
	scene.seen.lost = {{270, 280, 1}};
	EXPECT_EQ(scene.text(), "lost_record");
	scene.seen.lost = {{20, 100, 1}};
	EXPECT_EQ(scene.text(), "lost_record");
	scene.seen.lost = {{271, 280, 1}, {20, 99, 1}};
	EXPECT_TRUE(scene.path().complete());
}

// The sender may have been preempted in its call. That period is written when it comes back.
TEST(Refusal, LossBeforeTheSendersCallIsBack)
{
	Scene scene = complete();
	scene.transfer().call_return = at(300);
	scene.seen.lost = {{280, 290, 1}};
	EXPECT_EQ(scene.text(), "lost_record");
	scene.transfer().call_return = at(279);
	EXPECT_TRUE(scene.path().complete());
}

TEST(Refusal, LossSinceTheMatchBegan)
{
	Scene scene = complete();
	scene.seen.lost = {{60, 70, 1}};
	EXPECT_TRUE(scene.path().complete());
	scene.transfer().matched_since_ns = 65;
	EXPECT_EQ(scene.text(), "lost_record");
}

// Not pinned: a lost period may have moved it to another CPU with other interrupts.
TEST(Refusal, LossSinceTheCpuOfAFreeThreadIsKnown)
{
	Scene scene = complete();
	scene.seen.lost = {{60, 70, 1}};
	scene.thread(kSender).pinned = false;
	EXPECT_EQ(scene.text(), "lost_record");
	scene.sleep(kSender, 72, 73, 74, 75, kForeign);
	EXPECT_TRUE(scene.path().complete());
}

// Nor where it ran before its first switch: the record that tells its CPU may follow a period that was lost.
TEST(Refusal, LossUntilTheCpuOfAFreeThreadIsTold)
{
	Scene scene = complete();
	scene.seen.lost = {{280, 290, 1}}; // after recv
	scene.thread(kSender).pinned = false;
	scene.thread(kSender).first_cpu_told_ns = 279;
	EXPECT_TRUE(scene.path().complete());
	scene.thread(kSender).first_cpu_told_ns = 300;
	EXPECT_EQ(scene.text(), "lost_record");
	scene.seen.lost.clear();
	EXPECT_TRUE(scene.path().complete());
	scene.thread(kSender).first_cpu_told_ns = UINT64_MAX;
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Refusal, ContradictoryStampsAreNeverClamped)
{
	auto refused = [](auto change) {
		Scene scene = complete();
		change(scene, scene.transfer());
		return scene.text();
	};
	EXPECT_EQ(refused([](Scene &scene, Transfer &) { scene.delivery.send = at(271); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &scene, Transfer &) { scene.delivery.send = at(120); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &scene, Transfer &) { scene.delivery.recv = at(255); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.call_return = at(109); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.ready = at(105); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.device = at(141); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.device = at(105); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.ask = at(53); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.wait_return = at(53); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.taken = at(261); }), "inverted_time");
	EXPECT_EQ(refused([](Scene &, Transfer &transfer) { transfer.take_return = at(190); }), "inverted_time");
}

TEST(Refusal, AThreadThatActsWhileItIsOffItsCpu)
{
	Scene scene = complete();
	scene.preempt(kSender, 105, 115);
	EXPECT_EQ(scene.text(), "inverted_time");
}

TEST(Refusal, ASleepWithNoWaking)
{
	Scene scene = complete();
	scene.thread(kReceiver).off[0].waking_ns = 0;
	scene.thread(kReceiver).off[0].wakeup_ns = 0;
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Refusal, AWakeupBeforeItsWaking)
{
	Scene scene = complete();
	scene.thread(kReceiver).off[0].wakeup_ns = 144;
	EXPECT_EQ(scene.text(), "inverted_time");
}

TEST(Refusal, TwoTasksOnOneCpu)
{
	Scene scene = complete();
	scene.foreign_run(kReceiverCpu, 210, 220);
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Refusal, NothingTellsReady)
{
	Scene scene = complete();
	scene.transfer().ready.reset();
	scene.transfer().call.reset();
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Refusal, ReadyAfterTheCallAndNothingHeldIt)
{
	Scene scene = complete();
	scene.transfer().call_return = at(130);
	EXPECT_EQ(scene.text(), "no_evidence");
}

// The thread that makes a message ready wakes the sleeper. If the sender didn't, another thread carried the message.
TEST(Refusal, ASleeperThatTheSenderDidNotWake)
{
	Scene scene = complete();
	scene.transfer().ready.reset();
	scene.thread(kReceiver).off[0].waking_ns = 160;
	scene.thread(kReceiver).off[0].waker_tid = kForeign;
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Refusal, AThreadThatIsNotKnown)
{
	Scene scene = complete();
	scene.seen.threads.erase(kSender);
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Refusal, NoTransferAndNoWakeByWhoHasTheMessage)
{
	Scene scene = complete();
	scene.seen.transfers.clear();
	scene.thread(kReceiver).off[0].waker_tid = kForeign;
	EXPECT_EQ(scene.text(), "left_path");
}

} // namespace
} // namespace icepath::path
