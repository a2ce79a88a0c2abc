// SPDX-License-Identifier: Apache-2.0
// The taking side, continued: interrupts, and announcements from within them.
#include <gtest/gtest.h>

#include "tests/path/socket_scene.h"

namespace icepath::path {
namespace {

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

// An NMI interrupts anything, also another interrupt, which then contains it.
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

// Stamps are taken in user mode, never within an interrupt. Contradicting evidence still tiles.
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

// Asleep since after the message was ready, and woken long after the sending call returned: it didn't wait for this
// message.
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
	off.waking_ns = 175; // by the next softirq, for another message
	EXPECT_EQ(scene.text(), "no_evidence");
}

// For example a timer's interrupt within the softirq, on top of the same task.
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

// On loopback TCP acknowledges within the taking call, by a softirq there, which counts as part of the call.
TEST(Taking, TheAcknowledgementOfItsOwnCallIsTheCalls)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.transfer().connection = {7, 8};
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	scene.interrupt(kReceiverCpu, 220, 250, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	Interrupt &softirq = scene.seen.cpus[kReceiverCpu].interrupts.back();
	constexpr const char *kForeign = "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 20 | "
									 "1:interrupt 30 by irq 0.3 | 1:receiver.kernel 10 | 1:receiver.user 10";
	EXPECT_EQ(after_head(scene), kForeign) << "nothing tells whose packets";
	softirq.sockets = {8, 0};
	EXPECT_EQ(after_head(scene), "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 20 | "
								 "1:receiver.kernel/softirq 30 | 1:receiver.kernel 10 | 1:receiver.user 10");
	softirq.sockets = {8, 9};
	EXPECT_EQ(after_head(scene), kForeign) << "another connection's as well";
	softirq.sockets = {9, 0};
	EXPECT_EQ(after_head(scene), kForeign);
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

// The other datagrams of a message, which name no connection: within a call they are the call's, elsewhere a part of
// their own.
TEST(Taking, PacketsOfTheCellsSocketsAreItsOwnWork)
{
	Scene scene = taken(sent_at_100(), 50, 52, 260, 270);
	scene.sleep(kReceiver, 60, 145, 180, 200, kSender);
	for (const auto &[begin, end] : {std::pair{220, 250}, {262, 266}}) {
		scene.interrupt(kReceiverCpu, begin, end, ICEPATH_INTERRUPT_SOFTIRQ, 3);
		scene.seen.cpus[kReceiverCpu].interrupts.back().work = Culprit::Work::OwnPackets;
	}
	EXPECT_EQ(after_head(scene), "1:sender.kernel/notify 5' | 1:wakeup 35 | 1:runqueue 20 | 1:receiver.kernel 20 | "
								 "1:receiver.kernel/softirq 30 | 1:receiver.kernel 10 | 1:receiver.user 2 | "
								 "1:interrupt/softirq 4 by irq 0.3 | 1:receiver.user 4");
}

// The scheduler's tick wakes no thread.
TEST(Taking, ASleepIsEndedByTheThreadsOwnTimerOrItsOwnPackets)
{
	Scene scene = taken(sent_at_100(), 50, 52, 6000, 6010);
	scene.transfer().taken = at(148);
	OffCpu &off = scene.sleep(kReceiver, 200, 4980, 4990, 5000, 0);
	const auto work = [&] {
		const Path path = scene.path();
		for (const Segment &segment : path.segments)
			if (segment.layer == Layer::Blocked)
				return (segment.part == Part::Timer) == by_timer(off) ? segment.culprit.work
																	  : Culprit::Work::OtherTimer;
		return Culprit::Work::OtherTimer;
	};
	off.waker_context = ICEPATH_CONTEXT_HARDIRQ;
	off.waker_vector = ICEPATH_INTERRUPT_TIMER; // clock_nanosleep()
	EXPECT_EQ(work(), Culprit::Work::OwnTimer) << scene.text();
	off.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	off.waker_vector = 1; // schedule_timeout()
	EXPECT_EQ(work(), Culprit::Work::OwnTimer) << scene.text();
	off.waker_vector = 3;
	EXPECT_EQ(work(), Culprit::Work::OwnPackets) << "of a socket that it waits for: " << scene.text();
	off.waker_vector = 4; // BLOCK
	EXPECT_EQ(work(), Culprit::Work::NotTold) << scene.text();
	off.waker_context = ICEPATH_CONTEXT_HARDIRQ;
	off.waker_vector = ICEPATH_INTERRUPT_DEVICE;
	EXPECT_EQ(work(), Culprit::Work::NotTold) << scene.text();
}

} // namespace
} // namespace icepath::path
