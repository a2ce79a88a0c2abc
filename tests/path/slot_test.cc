// SPDX-License-Identifier: Apache-2.0
// Messages through memory: slots that a sender publishes, kernel queues that a receiver maps, a library's queues.
#include <gtest/gtest.h>

#include "tests/path/scene.h"

namespace icepath::path {
namespace {

Scene slot(uint64_t publish, uint64_t ask, uint64_t observe, uint64_t recv)
{
	Scene scene;
	scene.delivery.send = at(100);
	scene.transfer().by = BySlot{at(publish)};
	scene.transfer().ask = at(ask);
	scene.transfer().taken = at(observe);
	scene.delivery.recv = at(recv);
	return scene;
}

TEST(Slot, SeenByPolling)
{
	Scene scene = slot(120, 50, 150, 160);
	scene.transfer().polls = true;
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 1:propagation 30 | 1:receiver.user 10");
}

TEST(Slot, SeenAfterAFutexWake)
{
	Scene scene = slot(120, 50, 250, 260);
	scene.transfer().call = at(125);
	scene.transfer().call_return = at(150);
	scene.transfer().wait_return = at(230);
	scene.sleep(kReceiver, 60, 140, 180, 200, kSender);
	EXPECT_EQ(scene.text(),
			  "0:sender.user 20 | 1:sender.kernel/notify 20' | 1:wakeup 40 | 1:runqueue 20 | 1:receiver.kernel 30 | "
			  "1:propagation 20 | 1:receiver.user 10");
}

// Without a call, a waking after the giver's next stamp is for something else.
TEST(Slot, WhomTheGiverWakesLaterItDoesNotWakeForThis)
{
	Scene scene = slot(120, 50, 5250, 5260);
	scene.transfer().wait_return = at(5230);
	std::get<BySlot>(scene.transfer().by).stored_by_ns = 130;
	scene.sleep(kReceiver, 60, 128, 5180, 5200, kSender);
	EXPECT_TRUE(scene.text().starts_with("0:sender.user 20 | 1:sender.kernel/notify 8' | 1:wakeup")) << scene.text();
	scene.thread(kReceiver).off.front().waking_ns = 140;
	EXPECT_EQ(scene.text().find("1:wakeup "), std::string::npos) << scene.text();
}

TEST(Slot, SeenBeforeTheGiverCallsToWake)
{
	Scene scene = slot(120, 50, 150, 160);
	scene.transfer().call = at(155);
	scene.transfer().call_return = at(190);
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 1:propagation 30 | 1:receiver.user 10");
}

TEST(Slot, ThatWaitsForTheReaderToComeBack)
{
	Scene scene = slot(120, 200, 250, 260);
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 1:queue/busy 80 | 1:propagation 50 | 1:receiver.user 10");
}

// The giver waits for its next message's time, and the reader is slow.
TEST(Slot, WhoWentToSleepHadStored)
{
	Scene scene = slot(120, 50, 5000, 5010);
	scene.transfer().polls = true;
	scene.sleep(kSender, 200, 4000, 4010, 4020, kReceiver);
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 1:propagation 4880 | 1:receiver.user 10");
}

// Preempted from 122 to 5000, after its stamp: either before or after its store.
Scene delayed_after_publishing(uint64_t observe)
{
	Scene scene = slot(120, 50, observe, observe + 10);
	scene.transfer().polls = true;
	scene.preempt(kSender, 122, 5000);
	scene.foreign_run(kSenderCpu, 122, 5000);
	return scene;
}

TEST(Slot, WhoLostItsCpuBeforeTheStoreIsNoPropagation)
{
	const Scene scene = delayed_after_publishing(5010);
	EXPECT_EQ(scene.text(), "0:sender.user 22 | 0:preempted 4878 by 99~ | 1:propagation 10 | 1:receiver.user 10");
	const Boundary ready = scene.path().segments.at(1).end;
	EXPECT_EQ(ready.earliest_ns, 120u);
	EXPECT_EQ(ready.latest_ns, 5010u);
}

// A receiver without a CPU can't miss the store: its time isn't moved then, only its bounds are wide.
TEST(Slot, WhoDidNotLookProvesNothing)
{
	Scene scene = delayed_after_publishing(5010);
	scene.preempt(kReceiver, 110, 5005);
	scene.foreign_run(kReceiverCpu, 110, 5005, 98);
	EXPECT_EQ(scene.text(), "0:sender.user 20~ | 1:preempted 4885 by 98 | 1:propagation 5 | 1:receiver.user 10");
	EXPECT_EQ(scene.path().segments.at(0).end.latest_ns, 5010u);
}

TEST(Slot, ThatWasSeenMeanwhileHadBeenStored)
{
	EXPECT_EQ(delayed_after_publishing(150).text(), "0:sender.user 20 | 1:propagation 30 | 1:receiver.user 10");
}

TEST(Slot, WhoHadStampedAgainHadStored)
{
	Scene scene = delayed_after_publishing(5010);
	std::get<BySlot>(scene.transfer().by).stored_by_ns = 121;
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 1:propagation 4890 | 1:receiver.user 10");
	std::get<BySlot>(scene.transfer().by).stored_by_ns = 5005;
	EXPECT_EQ(scene.path().segments.at(1).end.latest_ns, 5005u);
}

TEST(Slot, AnInterruptBeforeTheStoreIsTheSenders)
{
	Scene scene = slot(120, 50, 900, 910);
	scene.transfer().polls = true;
	scene.interrupt(kSenderCpu, 125, 800);
	EXPECT_EQ(scene.text(),
			  "0:sender.user 25 | 0:interrupt 675 by irq 2.236~ | 1:propagation 100 | 1:receiver.user 10");
	scene.seen.cpus.at(kSenderCpu).interrupts.front().begin_ns = 110; // a stamp isn't taken in an interrupt
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:interrupt 10 by irq 2.236 | 1:propagation 780 | 1:receiver.user 10");
}

// The kernel put it into memory that the receiver maps, in the sender's call: only its bounds are known.
Scene mapped_queue(uint64_t ask, uint64_t observe, uint64_t recv)
{
	Scene scene = slot(0, ask, observe, recv);
	scene.transfer().by = ByCall{};
	scene.transfer().call = at(110);
	scene.transfer().call_return = at(150);
	return scene;
}

TEST(MappedQueue, SeenByPolling)
{
	Scene scene = mapped_queue(50, 140, 160);
	scene.transfer().polls = true;
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 30~ | 1:receiver.user 20");
	EXPECT_EQ(scene.path().segments[1].end.earliest_ns, 110u);
	EXPECT_EQ(scene.path().segments[1].end.latest_ns, 140u);
	scene = mapped_queue(50, 180, 190);
	scene.transfer().polls = true;
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 40~ | 1:propagation 30 | 1:receiver.user 10");
}

TEST(MappedQueue, ThatHadTheMessageBeforeItWasAskedFor)
{
	EXPECT_EQ(mapped_queue(200, 205, 260).text(),
			  "0:sender.user 10 | 0:sender.kernel 40~ | 1:queue/busy 50 | 1:propagation 5 | 1:receiver.user 55");
}

TEST(MappedQueue, SeenAfterAReadinessWait)
{
	Scene scene = mapped_queue(50, 240, 260);
	scene.transfer().wait_return = at(230);
	scene.sleep(kReceiver, 60, 140, 180, 200, kSender);
	EXPECT_EQ(scene.text(), "0:sender.user 10 | 0:sender.kernel 30' | 1:wakeup 40 | 1:runqueue 20 | "
							"1:receiver.kernel 30 | 1:propagation 10 | 1:receiver.user 20");
}

// A library's functions delivered it in user mode: only the bounds of its entry into the queue are known.
Scene library_queue(uint64_t take, uint64_t back, uint64_t recv)
{
	Scene scene = slot(0, 50, 0, recv);
	scene.transfer().by = ByCall{};
	scene.transfer().taken.reset();
	scene.transfer().call = at(110);
	scene.transfer().call_return = at(150);
	scene.transfer().take_call = at(take);
	scene.transfer().take_return = at(back);
	scene.transfer().polls = true;
	scene.transfer().by = ByLibrary{};
	return scene;
}

TEST(LibraryQueue, HasNoLayerOfTheKernel)
{
	EXPECT_EQ(library_queue(160, 170, 175).text(), "0:sender.user 50~ | 1:propagation 10 | 1:receiver.user 15");
	const Scene within = library_queue(145, 170, 175);
	EXPECT_EQ(within.text(), "0:sender.user 45~ | 1:receiver.user 30");
	EXPECT_EQ(within.path().segments[0].end.earliest_ns, 110u);
	EXPECT_EQ(within.path().segments[0].end.latest_ns, 150u);
}

TEST(LibraryQueue, ItsSystemCallsAreTheKernels)
{
	Scene scene = library_queue(160, 170, 175);
	scene.call(kSender, 120, 130);
	scene.call(kReceiver, 164, 166);
	scene.call(kReceiver, 171, 172);
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 0:sender.kernel 10 | 0:sender.user 20~ | 1:propagation 10 | "
							"1:receiver.user 4 | 1:receiver.kernel 2 | 1:receiver.user 5 | 1:receiver.kernel 1 | "
							"1:receiver.user 3");
}

TEST(LibraryQueue, WhoSleepsForItIsWokenWithinACall)
{
	Scene scene = library_queue(50, 250, 260);
	scene.transfer().polls = false;
	scene.call(kSender, 115, 140); // the futex call that wakes
	scene.call(kReceiver, 55, 220);
	scene.sleep(kReceiver, 60, 130, 160, 200, kSender);
	EXPECT_EQ(scene.text(), "0:sender.user 15 | 0:sender.kernel 15' | 1:wakeup 30 | 1:runqueue 40 | "
							"1:receiver.kernel 20 | 1:receiver.user 40");
}

TEST(LibraryQueue, WhoSleepsInItsCallIsHeldUp)
{
	Scene scene = library_queue(160, 170, 175);
	scene.sleep(kSender, 120, 125, 128, 130, kReceiver);
	EXPECT_EQ(scene.text(), "0:sender.user 20 | 0:blocked/backpressure 8 by 20 | 0:runqueue 2 | 0:sender.user 20~ | "
							"1:propagation 10 | 1:receiver.user 15");
	scene.thread(kSender).calls.push_back({115, 135, Call::Kind::FutexLock, {}});
	EXPECT_EQ(scene.text(), "0:sender.user 15 | 0:sender.kernel 5 | 0:blocked/lock 8 by 20 | 0:runqueue 2 | "
							"0:sender.kernel 5 | 0:sender.user 15~ | 1:propagation 10 | 1:receiver.user 15")
		<< "the receiver had the queue's mutex";
}

} // namespace
} // namespace icepath::path
