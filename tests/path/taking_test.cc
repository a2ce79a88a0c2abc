// SPDX-License-Identifier: Apache-2.0
// The taking side: one timeline for each rule about what the receiver did between "ready" and `recv`.
#include <gtest/gtest.h>

#include "tests/path/scene.h"

namespace icepath::path {
namespace {

// A UNIX socket: sent at 100, call [110, 150), ready at 140.
Scene sent_at_100()
{
	Scene scene;
	scene.delivery.send = at(100);
	scene.transfer().call = at(110);
	scene.transfer().call_return = at(150);
	scene.transfer().ready = at(140);
	scene.transfer().ready_tid = kSender;
	return scene;
}

Scene taken(Scene scene, uint64_t ask, uint64_t call, uint64_t back, uint64_t recv)
{
	scene.transfer().ask = at(ask);
	scene.transfer().take_call = at(call);
	scene.transfer().take_return = at(back);
	scene.delivery.recv = at(recv);
	return scene;
}

// A poller's, in the call from 125 to 145; nothing but the calibration tells when the message was ready.
Scene taken_in_call(double ready, double taken_share)
{
	Scene scene = taken(sent_at_100(), 50, 125, 145, 190);
	scene.transfer().polls = true;
	scene.transfer().ready.reset();
	scene.transfer().ready_tid = 0;
	scene.transfer().shares = {ready, taken_share};
	return scene;
}

constexpr const char *kHead = "0:sender.user 10 | 0:sender.kernel 30 | ";

std::string after_head(const Scene &scene)
{
	std::string text = scene.text();
	return text.starts_with(kHead) ? text.substr(std::string(kHead).size()) : text;
}

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

// In its wait, which would be for the message, but for the page: no datagram tells when it was copied.
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

TEST(Taking, InterruptsAreCarvedAndTheOutermostWins)
{
	Scene scene = taken(sent_at_100(), 50, 145, 160, 400);
	scene.interrupt(kReceiverCpu, 155, 170, ICEPATH_INTERRUPT_SOFTIRQ, 1);
	scene.interrupt(kReceiverCpu, 158, 165); // nested
	scene.interrupt(kReceiverCpu, 200, 210);
	EXPECT_EQ(after_head(scene),
			  "1:receiver.user 5 | 1:receiver.kernel 10 | 1:interrupt 15 by irq 0.1 | 1:receiver.user 30 | "
			  "1:interrupt 10 by irq 2.236 | 1:receiver.user 190");
}

// An NMI comes in the middle of anything: also of an interrupt, which then holds it.
TEST(Taking, AnNmiIsCarvedLikeAnyInterrupt)
{
	Scene scene = taken(sent_at_100(), 50, 145, 160, 400);
	scene.interrupt(kReceiverCpu, 155, 158, ICEPATH_INTERRUPT_NMI, 0);
	scene.interrupt(kReceiverCpu, 200, 230);
	scene.interrupt(kReceiverCpu, 205, 215, ICEPATH_INTERRUPT_NMI, 0);
	scene.interrupt(kReceiverCpu, 300, 310, ICEPATH_INTERRUPT_NMI, 0);
	EXPECT_EQ(after_head(scene),
			  "1:receiver.user 5 | 1:receiver.kernel 10 | 1:interrupt 3 by irq 6.0 | 1:receiver.kernel 2 | "
			  "1:receiver.user 40 | 1:interrupt 30 by irq 2.236 | 1:receiver.user 70 | "
			  "1:interrupt 10 by irq 6.0 | 1:receiver.user 90");
}

// Stamps are read in user mode, so an interrupt holds none; evidence that says otherwise still tiles.
TEST(Taking, OwnInterruptStays)
{
	Scene scene = taken(sent_at_100(), 50, 160, 180, 190);
	scene.transfer().polls = true;
	scene.transfer().device = at(130);
	scene.transfer().ready_in_softirq = true;
	scene.transfer().ready_interrupt = scene.interrupt(kReceiverCpu, 132, 150, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 20 | 1:network 10 | 1:propagation 20 | "
							"1:receiver.kernel 20 | 1:receiver.user 10");
	scene.transfer().ready_interrupt.reset();
	EXPECT_EQ(scene.text(),
			  "0:sender.user 10 | 0:sender.kernel 20 | 1:network 10 | 1:interrupt 10 by irq 0.3 | 1:propagation 10 | "
			  "1:receiver.kernel 20 | 1:receiver.user 10");
}

TEST(Taking, NotifyFromSoftirqOnTopOfAThirdTask)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.transfer().device = at(130);
	scene.transfer().ready_in_softirq = true;
	scene.transfer().ready_context = ICEPATH_CONTEXT_SOFTIRQ;
	scene.transfer().ready_tid = kForeign;
	OffCpu &off = scene.sleep(kReceiver, 60, 145, 180, 200, kForeign);
	off.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	off.waker_vector = 3;
	EXPECT_EQ(scene.text(),
			  "0:sender.user 10 | 0:sender.kernel 20 | 1:network 10 | 1:network/notify 5' | 1:wakeup 35 | "
			  "1:runqueue 20 | 1:receiver.kernel 60 | 1:receiver.user 10");
	off.waker_tid = 98; // another softirq: on top of another task
	EXPECT_EQ(scene.text(),
			  "0:sender.user 10 | 0:sender.kernel 20 | 1:network 10 | 1:network/notify 5' | 1:wakeup/spurious 35 | "
			  "1:runqueue/spurious 20 | 1:receiver.kernel 60 | 1:receiver.user 10");
}

// Asleep from after the message was ready, and woken long after the sending call came back: whatever that was, it wasn't this message.
TEST(Taking, AWakingAfterTheSendingCallIsNoneForTheMessage)
{
	for (const bool copied : {false, true}) {
		Scene scene = taken(sent_at_100(), 50, 52, 6000, 6010);
		if (copied)
			scene.transfer().taken = at(5990);
		scene.sleep(kReceiver, 148, 4980, 4990, 5000, kSender); // the sender's next call, or a futex of its
		EXPECT_EQ(scene.text(), "no_evidence");
		scene.thread(kReceiver).off.front().waking_ns = 150;
		EXPECT_EQ(after_head(scene),
				  "1:receiver.kernel 8 | 1:sender.kernel/notify 2' | 1:wakeup 4840 | 1:runqueue 10 | "
				  "1:receiver.kernel 1000 | 1:receiver.user 10");
	}
}

TEST(Taking, AWakingAfterTheSoftirqIsNoneForTheMessage)
{
	Scene scene = taken(sent_at_100(), 50, 52, 6000, 6010);
	Transfer &transfer = scene.transfer();
	transfer.device = at(130);
	transfer.ready_in_softirq = true;
	transfer.ready_context = ICEPATH_CONTEXT_SOFTIRQ;
	transfer.ready_tid = kForeign;
	transfer.ready_interrupt = scene.interrupt(kSenderCpu, 132, 170, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	transfer.announced_until_ns = 170;
	OffCpu &off = scene.sleep(kReceiver, 60, 165, 180, 200, kForeign);
	off.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	off.waker_vector = 3;
	EXPECT_TRUE(scene.path().complete());
	off.waking_ns = 175; // by the next one, of another message
	EXPECT_EQ(scene.text(), "no_evidence");
}

// A timer's interrupt, say, in the middle of the softirq and on top of the same task.
TEST(Taking, AWakingByAnInterruptWithinTheSoftirqIsNoneForTheMessage)
{
	Scene scene = taken(sent_at_100(), 50, 52, 6000, 6010);
	Transfer &transfer = scene.transfer();
	transfer.device = at(130);
	transfer.ready_in_softirq = true;
	transfer.ready_context = ICEPATH_CONTEXT_SOFTIRQ;
	transfer.ready_tid = kForeign;
	OffCpu &off = scene.sleep(kReceiver, 60, 165, 180, 200, kForeign);
	off.waker_context = ICEPATH_CONTEXT_HARDIRQ;
	EXPECT_EQ(scene.text().find("1:wakeup 15"), std::string::npos) << scene.text();
	transfer.ready_context = ICEPATH_CONTEXT_HARDIRQ; // announced by that interrupt itself
	EXPECT_NE(scene.text().find("1:wakeup 15"), std::string::npos) << scene.text();
}

TEST(Taking, TheGiversOwnDelaysAreCarvedOutOfNotify)
{
	Scene scene = taken(sent_at_100(), 50, 52, 360, 370);
	scene.transfer().call_return = at(240);
	scene.sleep(kReceiver, 60, 220, 230, 250, kSender);
	scene.preempt(kSender, 150, 200);
	scene.foreign_run(kSenderCpu, 150, 200);
	scene.interrupt(kSenderCpu, 205, 210);
	EXPECT_EQ(after_head(scene),
			  "1:sender.kernel/notify 10 | 0:preempted 50 by 99 | 1:sender.kernel/notify 5 | "
			  "0:interrupt 5 by irq 2.236 | 1:sender.kernel/notify 10' | 1:wakeup 10 | 1:runqueue 20 | "
			  "1:receiver.kernel 110 | 1:receiver.user 10");
}

TEST(Taking, PollingReceiverThatSleepsIsBlocked)
{
	Scene scene = taken(sent_at_100(), 50, 260, 280, 290);
	scene.transfer().polls = true;
	scene.sleep(kReceiver, 150, 200, 210, 220, kForeign);
	EXPECT_EQ(after_head(scene), "1:propagation 10 | 1:blocked 60 by 99 | 1:runqueue 10 | 1:propagation 40 | "
								 "1:receiver.kernel 20 | 1:receiver.user 10");
}

// No ready event (a message queue): the wake out of the sending call tells it.
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

// The sender slept in its call after it had woken the receiver: more of the message came later.
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

// TCP acknowledges in the middle of the call that takes, on loopback by a softirq there: that is what the call does.
TEST(Taking, TheAcknowledgementOfItsOwnCallIsTheCalls)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.transfer().connection = {7, 8};
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	scene.interrupt(kReceiverCpu, 220, 250, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	Interrupt &softirq = scene.seen.cpus[kReceiverCpu].interrupts.back();
	constexpr const char *kBefore = "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 20 | ";
	const std::string foreign =
		std::string(kBefore) + "1:interrupt 30 by irq 0.3 | 1:receiver.kernel 10 | 1:receiver.user 10";
	EXPECT_EQ(after_head(scene), foreign) << "nothing tells whose packets";
	softirq.sockets = {8, 0};
	EXPECT_EQ(after_head(scene),
			  std::string(kBefore) + "1:receiver.kernel/softirq 30 | 1:receiver.kernel 10 | 1:receiver.user 10");
	softirq.sockets = {8, 9};
	EXPECT_EQ(after_head(scene), foreign) << "another connection's as well";
	softirq.sockets = {9, 0};
	EXPECT_EQ(after_head(scene), foreign);
}

TEST(Taking, OutsideItsCallsEvenItsOwnPacketsInterruptIt)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.transfer().connection = {7, 8};
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	scene.interrupt(kReceiverCpu, 262, 266, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	scene.seen.cpus[kReceiverCpu].interrupts.back().sockets = {7, 8};
	EXPECT_TRUE(after_head(scene).ends_with("1:receiver.user 2 | 1:interrupt 4 by irq 0.3 | 1:receiver.user 4"))
		<< after_head(scene);
}

} // namespace
} // namespace icepath::path
