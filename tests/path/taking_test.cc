// SPDX-License-Identifier: Apache-2.0
// The taking side: a timeline for each rule about the receiver between "ready" and `recv`.
#include <gtest/gtest.h>

#include "tests/path/socket_scene.h"

namespace icepath::path {
namespace {

TEST(Taking, BlockedReceiverIsWokenAndReturns)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	EXPECT_EQ(scene.text(),
			  "0:sender.user 10 | 0:sender.kernel 30 | 1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | "
			  "1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, WakeupIsCutAtTheInterruptAndAtTheExitFromIdle)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	OffCpu &off = scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	off.ipi_ns = 160;
	off.idle_exit_ns = 190;
	EXPECT_EQ(after_head(scene),
			  "1:sender.kernel/notify 5' | 1:wakeup/ipi 15 | 1:wakeup 20 | 1:runqueue/idle_exit 10 by idle | "
			  "1:runqueue 10 | 1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, ExitFromIdleBeforeTheWakeup)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender).idle_exit_ns = 170;
	EXPECT_EQ(after_head(scene), "1:sender.kernel/notify 5' | 1:wakeup/idle_exit 25 | 1:wakeup 10 | 1:runqueue 20 | "
								 "1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, EarlyWakingComesBeforeTheSwitchOut)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 155, 145, 180, 200, kSender);
	EXPECT_EQ(after_head(scene),
			  "1:receiver.kernel 15 | 1:wakeup 25 | 1:runqueue 20 | 1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, RunqueueNamesWhoHadTheCpuLongest)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	scene.foreign_run(kReceiverCpu, 170, 184, 98);
	scene.foreign_run(kReceiverCpu, 184, 200, 99);
	EXPECT_EQ(after_head(scene),
			  "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 by 99 | 1:receiver.kernel 60 | "
			  "1:receiver.user 10");
}

TEST(Taking, RunqueueBehindTheSenderOnASharedCpu)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.thread(kReceiver).first_cpu = kSenderCpu;
	scene.sleep(kReceiver, 60, 145, 147, 200, kSender);
	scene.sleep(kSender, 200, 300, 301, 400, kForeign);
	EXPECT_EQ(after_head(scene),
			  "1:sender.kernel/notify 5' | 1:wakeup 2 | 1:runqueue 53 by 10 | 1:receiver.kernel 60 | "
			  "1:receiver.user 10");
}

TEST(Taking, ReadinessWaitThenCall)
{
	Scene scene = taken(sent_at_100(), 50, 230, 260, 270);
	scene.transfer().wait_return = at(220);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	EXPECT_EQ(after_head(scene), "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 20 | "
								 "1:receiver.user 10 | 1:receiver.kernel 30 | 1:receiver.user 10");
}

// As a client of several servers does, which writes to one of them first.
TEST(Taking, AnotherCallBetweenTheWaitAndTheTakeIsntItsOwnCode)
{
	Scene scene = taken(sent_at_100(), 50, 230, 260, 270);
	scene.transfer().wait_return = at(205);
	scene.thread(kReceiver).calls.push_back({210, 225, Call::Kind::Send, {}});
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	EXPECT_EQ(after_head(scene),
			  "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 5 | "
			  "1:receiver.user 5 | 1:receiver.kernel 15 | 1:receiver.user 5 | 1:receiver.kernel 30 | "
			  "1:receiver.user 10");
}

TEST(Taking, PollingReceiverLooksUntilTheCallThatTakes)
{
	Scene scene = taken(sent_at_100(), 50, 160, 180, 190);
	scene.transfer().polls = true;
	EXPECT_EQ(after_head(scene), "1:propagation 20 | 1:receiver.kernel 20 | 1:receiver.user 10");
}

TEST(Taking, PollingReceiverFasterThanTheReadyEvent)
{
	Scene scene = taken(sent_at_100(), 50, 125, 138, 190);
	scene.transfer().polls = true;
	scene.transfer().taken = at(135);
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 15~ | 1:receiver.kernel 13 | 1:receiver.user 52");
	Segment sending = scene.path().segments[1];
	EXPECT_EQ(sending.end.earliest_ns, 110u);
	EXPECT_EQ(sending.end.latest_ns, 135u);
	EXPECT_EQ(sending.provenance(), Provenance::Inferred);
}

TEST(Taking, WhatNoEventTellsIsPlacedByTheCalibrationWithinItsBounds)
{
	const auto ready = [](double ready_share, double taken_share, auto... change) {
		Scene scene = taken_in_call(ready_share, taken_share);
		(change(scene.transfer()), ...);
		return scene.path().segments.at(1).end;
	};
	const Boundary placed = ready(0.5, 0.9);
	EXPECT_EQ(placed.at_ns, 130u) << "half of the call from 110 to 150";
	EXPECT_EQ(placed.provenance, Provenance::Calibrated);
	EXPECT_EQ(placed.earliest_ns, 110u);
	EXPECT_EQ(placed.latest_ns, 145u) << "the bounds are those of the calls all the same";
	EXPECT_EQ(ready(0.5, 0.1).at_ns, 127u) << "no later than it was taken";
	EXPECT_EQ(ready(1, 1).at_ns, 145u);
	EXPECT_EQ(taken_in_call(0, 0).text(),
			  "0:sender.user 10~ | 1:propagation 15 | 1:receiver.kernel 20 | 1:receiver.user 45");
	const auto told = ready(0.5, 0.9, [](Transfer &transfer) { transfer.ready = at(120); });
	EXPECT_EQ(told.at_ns, 120u) << "an event knows better";
	EXPECT_EQ(told.provenance, Provenance::Exact);
	Scene by_device = taken_in_call(0.5, 0.9), by_thread = taken_in_call(0.5, 0.9);
	by_device.transfer().device = at(120);
	by_thread.transfer().by = ByCall{true};
	for (const Scene &later : {by_device, by_thread}) {
		ASSERT_TRUE(later.path().complete());
		for (const Segment &segment : later.path().segments)
			EXPECT_NE(segment.provenance(), Provenance::Calibrated) << "its call ends before it is there";
	}
	Scene asleep = taken_in_call(0.1, 0.1);
	asleep.transfer().polls = false;
	asleep.sleep(kReceiver, 126, 135, 137, 140, kSender);
	EXPECT_EQ(asleep.path().segments.at(1).end.at_ns, 135u) << "so does the waking";
}

TEST(Taking, NotAskingIsQueueing)
{
	Scene scene = taken(sent_at_100(), 300, 300, 320, 330);
	scene.preempt(kReceiver, 160, 180);
	scene.foreign_run(kReceiverCpu, 160, 180);
	scene.sleep(kReceiver, 200, 240, 250, 260, kForeign);
	EXPECT_EQ(after_head(scene),
			  "1:queue/busy 20 | 1:queue/preempted 20 by 99 | 1:queue/busy 20 | 1:queue/blocked 50 by 99 | "
			  "1:queue/preempted 10 | 1:queue/busy 40 | 1:receiver.kernel 20 | 1:receiver.user 10");
}

// A helper of the receiver is to wake it, and has no CPU itself. What had that CPU is to blame.
TEST(Taking, AWakerThatHadNoCpuIsLate)
{
	constexpr uint32_t kHelper = 30;
	constexpr uint16_t kHelperCpu = 3;
	Scene scene = taken(sent_at_100(), 300, 300, 320, 330);
	scene.sleep(kReceiver, 200, 240, 250, 260, kHelper);
	scene.add_thread(kHelper, kHelperCpu);
	scene.preempt(kHelper, 150, 210); // of this 10 ns are within the receiver's sleep
	scene.sleep(kHelper, 212, 214, 215, 235, kSender);
	scene.foreign_run(kHelperCpu, 150, 210, kForeign);
	scene.foreign_run(kHelperCpu, 212, 235, kForeign + 1);
	const Path path = scene.path();
	ASSERT_TRUE(path.complete()) << scene.text();
	EXPECT_NE(scene.text().find("1:queue/blocked 50 by 30"), std::string::npos) << scene.text();
	ASSERT_EQ(path.late_wakers.size(), 2u);
	EXPECT_EQ(path.segments.at(path.late_wakers[0].segment).part, Part::Blocked);
	EXPECT_EQ(path.late_wakers[0].who, (Culprit{Culprit::Kind::Task, kForeign}));
	EXPECT_EQ(path.late_wakers[0].ns, 10u);
	EXPECT_EQ(path.late_wakers[1].who, (Culprit{Culprit::Kind::Task, kForeign + 1}));
	EXPECT_EQ(path.late_wakers[1].ns, 20u) << "from its own waking on, not from its going to sleep";
	scene.seen.of_other_cells = {kHelper};
	EXPECT_TRUE(scene.path().late_wakers.empty()) << "it isn't a thread of the cell";
}

TEST(Taking, PreemptedWhileAsking)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	scene.preempt(kReceiver, 210, 230);
	scene.foreign_run(kReceiverCpu, 210, 230);
	EXPECT_EQ(after_head(scene), "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 10 | "
								 "1:preempted 20 by 99 | 1:receiver.kernel 30 | 1:receiver.user 10");
}

TEST(Taking, SpuriousWakeBeforeReadyIsNamed)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 120, 135, 145, kForeign); // a signal
	scene.sleep(kReceiver, 170, 146, 180, 200, kSender);
	EXPECT_EQ(after_head(scene),
			  "1:runqueue/spurious 5 | 1:receiver.kernel/spurious 25 | 1:wakeup 10 | 1:runqueue 20 | "
			  "1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, WakeByAStrangerThatFindsTheMessage)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 142, 180, 200, kForeign);
	EXPECT_EQ(after_head(scene), "1:sender.kernel/notify 2' | 1:wakeup/spurious 38 | 1:runqueue/spurious 20 | "
								 "1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, WakeOutOfTheSendersOtherCallDeliversNothing)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 105, 145, 200, kSender); // before the sending call began
	EXPECT_EQ(after_head(scene),
			  "1:wakeup/spurious 5 | 1:runqueue/spurious 55 | 1:receiver.kernel 60 | 1:receiver.user 10");
}

TEST(Taking, BlockedOnStorageAfterTheWake)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	OffCpu &off = scene.sleep(kReceiver, 210, 230, 235, 240, kForeign);
	off.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	off.waker_vector = 4; // BLOCK
	EXPECT_EQ(after_head(scene),
			  "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 10 | "
			  "1:blocked/storage 25 by irq 0.4 | 1:runqueue 5 | 1:receiver.kernel 20 | 1:receiver.user 10");
}

// It sleeps in its wait, but for a page. A datagram's copying has no record.
TEST(Taking, APageIsNoWaitForTheMessage)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 150, 180, 185, 190, kForeign).in_fault = true;
	EXPECT_EQ(after_head(scene), "1:receiver.kernel 10 | 1:blocked/fault 35 by 99 | 1:runqueue 5 | "
								 "1:receiver.kernel 70 | 1:receiver.user 10");
	scene.thread(kReceiver).off.front().in_fault = false;
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Taking, AMessageThatWasThereIsNotSleptFor)
{
	Scene scene = taken(sent_at_100(), 145, 146, 260, 270);
	scene.sleep(kReceiver, 160, 180, 185, 190, kForeign);
	EXPECT_EQ(after_head(scene), "1:queue/busy 5 | 1:receiver.user 1 | 1:receiver.kernel 14 | 1:blocked 25 by 99 | "
								 "1:runqueue 5 | 1:receiver.kernel 70 | 1:receiver.user 10");
}

TEST(Taking, BlockedAfterTakingNamesTheTimer)
{
	Scene scene = taken(sent_at_100(), 50, 145, 160, 400);
	scene.sleep(kReceiver, 170, 180, 185, 190, kForeign);
	OffCpu &timer = scene.sleep(kReceiver, 200, 220, 225, 230, 0);
	timer.waker_context = ICEPATH_CONTEXT_HARDIRQ;
	timer.waker_vector = ICEPATH_INTERRUPT_TIMER;
	OffCpu &softirq = scene.sleep(kReceiver, 240, 250, 255, 260, 0);
	softirq.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	softirq.waker_vector = 1;
	EXPECT_EQ(after_head(scene),
			  "1:receiver.user 5 | 1:receiver.kernel 15 | 1:receiver.user 10 | 1:blocked 15 by 99 | 1:runqueue 5 | "
			  "1:receiver.user 10 | 1:blocked/timer 25 by irq 2.0 | 1:runqueue 5 | 1:receiver.user 10 | "
			  "1:blocked/timer 15 by irq 0.1 | 1:runqueue 5 | 1:receiver.user 140");
}

TEST(Taking, BacklogOfAnEarlierMessageOfTheRead)
{
	Scene scene = taken(sent_at_100(), 50, 145, 160, 400);
	scene.transfer().follows_in_read = true;
	EXPECT_EQ(after_head(scene), "1:receiver.user 5 | 1:receiver.kernel 15 | 1:receiver.user/backlog 240");
}

TEST(Taking, PollingReceiverThatSleepsIsBlocked)
{
	Scene scene = taken(sent_at_100(), 50, 260, 280, 290);
	scene.transfer().polls = true;
	scene.sleep(kReceiver, 150, 200, 210, 220, kForeign);
	EXPECT_EQ(after_head(scene), "1:propagation 10 | 1:blocked 60 by 99 | 1:runqueue 10 | 1:propagation 40 | "
								 "1:receiver.kernel 20 | 1:receiver.user 10");
}

// No ready event (a message queue): the wakeup from within the sending call marks "ready".
TEST(Taking, WakeOutOfTheSendingCallTellsReady)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.transfer().ready.reset();
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 35' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel "
							"60 | 1:receiver.user 10");
}

TEST(Taking, WithoutAnyEventReadyIsPlacedWhereTheTakingCallBegins)
{
	Scene scene = taken(sent_at_100(), 130, 130, 260, 270);
	scene.transfer().ready.reset();
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 20~ | 1:receiver.kernel 130 | 1:receiver.user 10");
	EXPECT_EQ(scene.path().segments[1].end.latest_ns, 150u);
}

TEST(Taking, WithoutAnyEventABacklogIsReadyWhenTheSendingCallIsBack)
{
	Scene scene = taken(sent_at_100(), 230, 230, 260, 270);
	scene.transfer().ready.reset();
	EXPECT_EQ(scene.text(),
			  "0:sender.user 10 | 0:sender.kernel 40~ | 1:queue/busy 80 | 1:receiver.kernel 30 | 1:receiver.user 10");
	EXPECT_EQ(scene.path().segments[1].end.earliest_ns, 110u);
	EXPECT_EQ(scene.path().segments[1].end.latest_ns, 150u);
}

// The sender slept in its call after waking the receiver: more of the message came later.
TEST(Taking, AWakeForTheFirstPartIsOnlyALowerBound)
{
	Scene scene = taken(sent_at_100(), 50, 52, 400, 410);
	scene.transfer().ready.reset();
	scene.transfer().call_return = at(350);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	scene.sleep(kSender, 160, 300, 305, 310, kReceiver);
	Path path = scene.path();
	ASSERT_TRUE(path.complete());
	auto ready = std::find_if(path.segments.begin(), path.segments.end(),
							  [](const Segment &one) { return one.end.provenance == Provenance::Inferred; });
	ASSERT_NE(ready, path.segments.end());
	EXPECT_EQ(ready->end.earliest_ns, 145u);
	EXPECT_EQ(ready->end.latest_ns, 350u);
}

} // namespace
} // namespace icepath::path
