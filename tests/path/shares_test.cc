// SPDX-License-Identifier: Apache-2.0
// Who had the CPU while a thread waited for it: each culprit's share is kept, and a segment names the one with at least
// half.
#include <gtest/gtest.h>

#include "tests/path/scene.h"

namespace icepath::path {
namespace {

// The receiver asks at 50, sleeps at 60, and is woken at 210 by the sender, in whose call [200, 300) the message is
// ready at 205. Runnable at 220, in at 1220, returns at 1230.
Scene woken()
{
	Scene scene;
	scene.delivery = {1, kSender, kReceiver, at(200), at(1230)};
	Transfer &transfer = scene.transfer();
	transfer.call = at(200);
	transfer.call_return = at(300);
	transfer.ready = at(205);
	transfer.ready_tid = kSender;
	transfer.ask = at(50);
	transfer.take_call = at(50);
	transfer.take_return = at(1230);
	scene.sleep(kReceiver, 60, 210, 220, 1220, kSender);
	scene.seen.cpus[kReceiverCpu];
	return scene;
}

OffCpu &wait_of(Scene &scene) { return scene.thread(kReceiver).off.back(); }

// The wait's part of a path's text.
std::string wait_text(const Scene &scene)
{
	const std::string text = scene.text();
	const size_t begin = text.find("1:runqueue"), end = text.find(" | 1:receiver.kernel");
	return begin == std::string::npos ? text : text.substr(begin, end - begin);
}

TEST(Shares, ATaskThatHadAllOfItIsNamed)
{
	Scene scene = woken();
	scene.foreign_run(kReceiverCpu, 100, 1220);
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000 by 99");
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 99 1000");
}

// 5 ns of 1 µs don't make a culprit.
TEST(Shares, AnInterruptThatHadLittleOfItIsNot)
{
	Scene scene = woken();
	scene.interrupt(kReceiverCpu, 215, 225);
	wait_of(scene).from_idle = true;
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000 by idle");
	EXPECT_EQ(shares_of(scene.path()), "runqueue: irq 2.236 5, idle 995");
}

TEST(Shares, LessThanHalfIsNobody)
{
	Scene scene = woken();
	scene.foreign_run(kReceiverCpu, 220, 619, 98);
	scene.foreign_run(kReceiverCpu, 619, 919, 99);
	scene.foreign_run(kReceiverCpu, 919, 1220, 97);
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000");
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 98 399, 99 300, 97 301");
}

TEST(Shares, AnInterruptOnTopOfATaskHasItsTime)
{
	Scene scene = woken();
	scene.foreign_run(kReceiverCpu, 100, 1220);
	scene.interrupt(kReceiverCpu, 300, 400);
	scene.interrupt(kReceiverCpu, 320, 330, ICEPATH_INTERRUPT_NMI, 0);
	EXPECT_EQ(shares_of(scene.path()), "runqueue: irq 2.236 100, 99 900");
}

// An interrupt within a softirq, possibly at its very end: the softirq's share is what the interrupt leaves.
TEST(Shares, AnInterruptOnTopOfASoftirqHasItsTime)
{
	Scene scene = woken();
	scene.foreign_run(kReceiverCpu, 100, 1220);
	scene.interrupt(kReceiverCpu, 210, 1000, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	scene.interrupt(kReceiverCpu, 212, 250);
	scene.interrupt(kReceiverCpu, 500, 990);
	scene.interrupt(kReceiverCpu, 600, 700, ICEPATH_INTERRUPT_NMI, 0);
	EXPECT_EQ(shares_of(scene.path()), "runqueue: irq 2.236 520, irq 0.3 260, 99 220");
}

// Neither a run still in progress at the block's end nor a hidden task has a record, so a gap isn't idle for lack of
// one.
TEST(Shares, WhatNoRecordTellsIsUnknown)
{
	Scene scene = woken();
	scene.foreign_run(kReceiverCpu, 100, 500);
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000");
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 99 280, unknown 720");
}

TEST(Shares, AGapIsIdleWhereWhatFollowsItSaysSo)
{
	Scene scene = woken();
	scene.foreign_run(kReceiverCpu, 100, 300);
	scene.foreign_run(kReceiverCpu, 700, 1000);
	scene.seen.cpus[kReceiverCpu].runs.back().from_idle = true;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 99 380, idle 400, unknown 220");
	wait_of(scene).from_idle = true;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 99 380, idle 620");
}

TEST(Shares, NothingIsIdleBeforeTheCpuIsKnown)
{
	Scene scene = woken();
	wait_of(scene).from_idle = true;
	scene.seen.cpus[kReceiverCpu].known_since_ns = 900;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 1000");
}

// It was idle until its idle exit, whatever ran unseen after that.
TEST(Shares, LeavingIdleIsAPartAndTheIdleCpus)
{
	Scene scene = woken();
	wait_of(scene).idle_exit_ns = 420;
	EXPECT_EQ(wait_text(scene), "1:runqueue/idle_exit 200 by idle | 1:runqueue 800");
	EXPECT_EQ(shares_of(scene.path()), "runqueue/idle_exit: idle 200 | runqueue: unknown 800");
	wait_of(scene).from_idle = true;
	EXPECT_EQ(wait_text(scene), "1:runqueue/idle_exit 200 by idle | 1:runqueue 800 by idle");
}

// The next receiver of a ping-pong was woken for room that its peer made: the message becomes ready during that wakeup.
TEST(Shares, OfAWakeForNothingThePartOfTheIdleCpuIsApart)
{
	Scene scene = woken();
	OffCpu &off = wait_of(scene);
	off.waking_ns = 180; // before the message
	off.idle_exit_ns = 420;
	off.from_idle = true;
	scene.interrupt(kReceiverCpu, 215, 225, ICEPATH_INTERRUPT_CALL_FUNCTION, 251);
	EXPECT_EQ(scene.text(), "0:sender.kernel 5 | 1:wakeup/spurious 15 | 1:runqueue/idle_exit 200 by idle | "
							"1:runqueue/spurious 800 by idle | 1:receiver.kernel 10");
	EXPECT_EQ(shares_of(scene.path()), "runqueue/idle_exit: irq 4.251 5, idle 195 | runqueue/spurious: idle 800");
}

TEST(Shares, AThrottledGroupsThreadWaitsBesideAnIdleCpu)
{
	Scene scene = woken();
	wait_of(scene).from_idle = true;
	wait_of(scene).went_idle = true;
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000 by idle") << "no count of its control group rose";
	scene.seen.throttled = true;
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000 by throttled");
	wait_of(scene).went_idle = false;
	EXPECT_EQ(wait_text(scene), "1:runqueue 1000 by idle") << "the CPU only took its time to leave idle";
}

TEST(Shares, ThrottledWhilePreemptedIsNotWhoRanLast)
{
	Scene scene = woken();
	OffCpu &off = wait_of(scene);
	off.in_ns = 230;
	OffCpu &preempted = scene.preempt(kReceiver, 240, 1200);
	preempted.from_idle = preempted.went_idle = true;
	scene.foreign_run(kReceiverCpu, 240, 245);
	scene.seen.throttled = true;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 10 | preempted: 99 5, throttled 955");
	EXPECT_NE(scene.text().find("1:preempted 960 by throttled"), std::string::npos) << scene.text();
}

TEST(Shares, AnotherThreadOfTheRunIsATaskLikeAnyOther)
{
	Scene scene = woken();
	Thread &other = scene.add_thread(30, kReceiverCpu);
	scene.sleep(30, 60, 80, 90, 100, kForeign);
	scene.sleep(30, 800, 1300, 1310, 1320, kForeign);
	wait_of(scene).from_idle = true;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 30 580, idle 420");
	other.first_cpu = 7; // pinned elsewhere
	for (OffCpu &off : other.off)
		off.in_cpu = off.out_cpu = 7;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: idle 1000");
}

// Its period is written when it comes back, after this message is over. If that record is lost, it seems to run on.
TEST(Shares, AnotherThreadsRunMayHaveEndedWhereARecordIsMissingLater)
{
	Scene scene = woken();
	scene.add_thread(30, kReceiverCpu);
	scene.sleep(30, 60, 80, 90, 100, kForeign);
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 30 1000");
	scene.seen.lost = {{5000, 5100, 1}};
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 1000");
}

// A thread that the records follow leaves the CPU for the rest of the block: only its coming is recorded.
TEST(Shares, WhoDoesNotComeBackHasTheCpuUntilAnotherHasItAtTheLatest)
{
	Scene scene = woken();
	scene.add_thread(30, kReceiverCpu).followed = true;
	OffCpu &last = scene.sleep(30, 20, 30, 40, 215, kForeign);
	wait_of(scene).from_idle = true;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 1000");
	last.in_ns = 50; // the receiver had it after that
	EXPECT_EQ(shares_of(scene.path()), "runqueue: idle 1000");
	wait_of(scene).out_cpu = 5;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 1000");
	Thread &other = scene.add_thread(31, 5);
	other.pinned = false;
	scene.sleep(31, 20, 30, 40, 150, kForeign).in_cpu = 5;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 1000");
	other.off.back().in_cpu = kReceiverCpu;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: 31 1000");
	other.off.push_back({});
	other.off.back().out_ns = 160;
	other.off.back().in_ns = 1400;
	EXPECT_EQ(shares_of(scene.path()), "runqueue: idle 1000");
	other.off.clear();
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 1000");
	scene.foreign_run(kReceiverCpu, 150, 160);
	EXPECT_EQ(shares_of(scene.path()), "runqueue: idle 1000");
}

// From its migration on, its queue is known.
TEST(Shares, OfAThreadThatWasMovedOnlyTheQueueThatIsKnownCounts)
{
	Scene scene = woken();
	Thread &thread = scene.thread(kReceiver);
	thread.pinned = false;
	thread.moved_ns = {215, 620};
	scene.foreign_run(kReceiverCpu, 100, 1220);
	EXPECT_EQ(shares_of(scene.path()), "runqueue: unknown 400, 99 600");
	wait_of(scene).preempted = true;
	Scene preempted = woken();
	preempted.thread(kReceiver).pinned = false;
	wait_of(preempted).in_ns = 230;
	preempted.preempt(kReceiver, 240, 1200).in_cpu = 5;
	preempted.foreign_run(kReceiverCpu, 240, 1200);
	preempted.foreign_run(5, 200, 1200, 98);
	EXPECT_EQ(shares_of(preempted.path()), "runqueue: unknown 10 | preempted: unknown 960")
		<< "when it moved isn't known";
	preempted.thread(kReceiver).moved_ns = {700};
	EXPECT_EQ(shares_of(preempted.path()), "runqueue: unknown 10 | preempted: 99 460, 98 500");
}

TEST(Shares, AddUpToTheirSegments)
{
	Scene scene = woken();
	wait_of(scene).idle_exit_ns = 420;
	scene.foreign_run(kReceiverCpu, 430, 500);
	scene.foreign_run(kReceiverCpu, 480, 700, 98); // contradicts the one before
	scene.interrupt(kReceiverCpu, 410, 440);
	const Path path = scene.path();
	std::vector<uint64_t> sums(path.segments.size());
	for (const Share &one : path.shares)
		sums.at(one.segment) += one.ns;
	for (size_t i = 0; i < sums.size(); ++i)
		if (waits_for_cpu(path.segments[i].layer, path.segments[i].part))
			EXPECT_EQ(sums[i], path.segments[i].duration_ns()) << text_of(path) << "; " << shares_of(path);
		else
			EXPECT_EQ(sums[i], 0u);
}

// Some CPUs report the idle exit before they take the interrupt.
TEST(Shares, LeavingIdleBeforeTheInterruptKeepsBothPieces)
{
	Scene scene = woken();
	OffCpu &off = wait_of(scene);
	off.ipi_ns = 218;
	off.idle_exit_ns = 214;
	EXPECT_EQ(scene.text().substr(0, scene.text().find(" | 1:runqueue")),
			  "0:sender.kernel 5 | 1:sender.kernel/notify 5' | 1:wakeup/idle_exit 4 | 1:wakeup/ipi 4 | 1:wakeup 2");
	off.idle_exit_ns = 219;
	EXPECT_EQ(scene.text().substr(0, scene.text().find(" | 1:runqueue")),
			  "0:sender.kernel 5 | 1:sender.kernel/notify 5' | 1:wakeup/ipi 8 | 1:wakeup/idle_exit 1 | 1:wakeup 1");
}

} // namespace
} // namespace icepath::path
