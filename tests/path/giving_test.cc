// SPDX-License-Identifier: Apache-2.0
// The giving side: the sender between `send` and "ready", and the network.
#include <gtest/gtest.h>

#include <functional>

#include "tests/path/scene.h"

namespace icepath::path {
namespace {

// Sent at 100, call [200, 300), ready at 280, taken by a poll in [290, 310), recv at 320.
Scene polled()
{
	Scene scene;
	scene.delivery = {1, kSender, kReceiver, at(100), at(320)};
	Transfer &transfer = scene.transfer();
	transfer.call = at(200);
	transfer.call_return = at(300);
	transfer.ready = at(280);
	transfer.ask = at(50);
	transfer.polls = true;
	transfer.take_call = at(290);
	transfer.take_return = at(310);
	return scene;
}

constexpr const char *kTail = " | 1:propagation 10 | 1:receiver.kernel 20 | 1:receiver.user 10";

std::string before_tail(const Scene &scene)
{
	std::string text = scene.text();
	return text.ends_with(kTail) ? text.substr(0, text.size() - std::string(kTail).size()) : text;
}

TEST(Giving, UserThenCall) { EXPECT_EQ(before_tail(polled()), "0:sender.user 100 | 0:sender.kernel 80"); }

TEST(Giving, PreemptedInUserModeAndInTheCall)
{
	Scene scene = polled();
	scene.preempt(kSender, 120, 150);
	scene.foreign_run(kSenderCpu, 120, 150);
	scene.preempt(kSender, 210, 240);
	scene.foreign_run(kSenderCpu, 210, 240, 98);
	EXPECT_EQ(before_tail(scene), "0:sender.user 20 | 0:preempted 30 by 99 | 0:sender.user 50 | 0:sender.kernel 10 | "
								  "0:preempted 30 by 98 | 0:sender.kernel 40");
}

// Crossing to the waker would leave the message's path: the receiver only drained earlier messages.
TEST(Giving, BackpressureNamesWhoMadeRoomAndStaysOnItsThread)
{
	Scene scene = polled();
	scene.sleep(kSender, 210, 240, 250, 260, kReceiver);
	scene.foreign_run(kSenderCpu, 252, 260);
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 10 | 0:blocked/backpressure 40 by 20 | "
								  "0:runqueue 10 by 99 | 0:sender.kernel 20");
}

// The part for a sleep of the sender in its call, from 210 to 250, with the properties that `how` sets.
std::string asleep_in_call(const std::function<void(OffCpu &)> &how)
{
	Scene scene = polled();
	how(scene.sleep(kSender, 210, 240, 250, 260, kForeign));
	const std::string text = before_tail(scene), head = "0:sender.user 100 | 0:sender.kernel 10 | 0:",
					  tail = " | 0:runqueue 10 | 0:sender.kernel 20";
	return text.starts_with(head) && text.ends_with(tail)
			   ? text.substr(head.size(), text.size() - head.size() - tail.size())
			   : text;
}

void by_softirq(OffCpu &off, uint8_t vector)
{
	off.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	off.waker_vector = vector;
	off.waker_tid = 0;
}

TEST(Giving, OnlyRoomIsBackpressure)
{
	EXPECT_EQ(asleep_in_call([](OffCpu &) {}), "blocked 40 by 99") << "a lock of the kernel's, perhaps";
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { off.waker_tid = kReceiver; }), "blocked/backpressure 40 by 20");
	for (const uint8_t packets : std::initializer_list<uint8_t>{2, 3}) // NET_TX, NET_RX
		EXPECT_EQ(asleep_in_call([&](OffCpu &off) { by_softirq(off, packets); }),
				  "blocked/backpressure 40 by irq 0." + std::to_string(packets));
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { by_softirq(off, 9); }), "blocked 40 by irq 0.9") << "RCU";
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { by_softirq(off, 1); }), "blocked/timer 40 by irq 0.1");
}

TEST(Giving, APageIsAFaultWhoeverBringsIt)
{
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { off.in_fault = true; }), "blocked/fault 40 by 99") << "userfaultfd";
	EXPECT_EQ(asleep_in_call([](OffCpu &off) {
				  off.in_fault = off.io_wait = true;
				  by_softirq(off, 4); // BLOCK
			  }),
			  "blocked/fault 40 by irq 0.4");
	EXPECT_EQ(asleep_in_call([](OffCpu &off) {
				  off.in_fault = true;
				  off.waker_tid = kReceiver;
			  }),
			  "blocked/fault 40 by 20")
		<< "the receiver had the page's lock";
}

TEST(Giving, StorageAndReclaimHaveNames)
{
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { by_softirq(off, 4); }), "blocked/storage 40 by irq 0.4");
	const auto waits_for_io = [](uint8_t waker) {
		return asleep_in_call([&](OffCpu &off) {
			off.io_wait = true;
			off.waker_vector = waker;
		});
	};
	EXPECT_EQ(waits_for_io(ICEPATH_WAKER_KERNEL_THREAD), "blocked/storage 40 by 99");
	EXPECT_EQ(waits_for_io(ICEPATH_WAKER_THREAD), "blocked 40 by 99") << "as io_uring waits for anything";
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { off.waker_vector = ICEPATH_WAKER_KERNEL_THREAD; }), "blocked 40 by 99");
	EXPECT_EQ(asleep_in_call([](OffCpu &off) { off.in_reclaim = true; }), "blocked/reclaim 40 by 99");
}

// A thread that takes from the sender's queue on its own, such as a library's, makes room in it.
TEST(Giving, WhoeverIsInATakingCallMakesRoom)
{
	Scene scene = polled();
	scene.add_thread(kForeign, 5);
	scene.thread(kForeign).calls.push_back({230, 245, Call::Kind::Receive, {}, 7, true});
	scene.sleep(kSender, 210, 240, 250, 260, kForeign);
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 10 | 0:blocked/backpressure 40 by 99 | "
								  "0:runqueue 10 | 0:sender.kernel 20");
	scene.thread(kForeign).calls.front().kind = Call::Kind::ReadinessWait;
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 10 | 0:blocked 40 by 99 | "
								  "0:runqueue 10 | 0:sender.kernel 20");
}

// A thread that takes from another object made no room, though it woke the sender, for example by releasing a lock.
TEST(Giving, WhoTakesFromAnotherObjectMakesNoRoom)
{
	for (const uint32_t waker : {kForeign, kReceiver}) {
		Scene scene = polled();
		if (waker == kForeign)
			scene.add_thread(kForeign, 5);
		scene.thread(waker).calls.push_back({230, 245, Call::Kind::Receive, {}, 7, true});
		scene.thread(kSender).calls.push_back({200, 300, Call::Kind::Send, {}, 8, true});
		scene.sleep(kSender, 210, 240, 250, 260, waker);
		const auto sleeps_for = [&] {
			const std::string text = before_tail(scene);
			const size_t at = text.find("blocked");
			return at == std::string::npos ? text : text.substr(at, text.find(' ', at) - at);
		};
		EXPECT_EQ(sleeps_for(), "blocked") << waker;
		scene.thread(kSender).calls.front().object = 7; // both ends of a pipe
		EXPECT_EQ(sleeps_for(), "blocked/backpressure") << waker;
		scene.thread(kSender).calls.front().object = 8;
		scene.seen.reached[8] = {7}; // the ends of a UNIX socket
		EXPECT_EQ(sleeps_for(), "blocked/backpressure") << waker;
		scene.seen.reached[8] = {9};
		EXPECT_EQ(sleeps_for(), "blocked") << waker;
		scene.thread(kSender).calls.front().object = 0; // not known
		EXPECT_EQ(sleeps_for(), "blocked/backpressure") << waker;
	}
}

// A queue in memory has no call that waits for room.
TEST(Giving, RoomInMemoryIsWaitedForBeforeTheCall)
{
	Scene scene = polled();
	scene.transfer().by = BySlot{};
	scene.sleep(kSender, 110, 120, 125, 130, kReceiver);
	scene.sleep(kSender, 140, 150, 155, 160, kForeign);
	EXPECT_EQ(before_tail(scene), "0:sender.user 10 | 0:blocked/backpressure 15 by 20 | 0:runqueue 5 | "
								  "0:sender.user 10 | 0:blocked 15 by 99 | 0:runqueue 5 | 0:sender.user 40 | "
								  "0:sender.kernel 80");
}

// Neither a waking by a task nor a futex call is evidence of a lock: a condition variable has both.
TEST(Giving, ALockIsSleptForWhereTheWordIsKnownToBeOne)
{
	for (const auto kind : {Call::Kind::FutexLock, Call::Kind::FutexWait, Call::Kind::Untold}) {
		Scene scene = polled();
		scene.thread(kSender).calls.push_back({108, 132, kind, {}});
		scene.sleep(kSender, 110, 120, 125, 130, kForeign);
		const std::string part = kind == Call::Kind::FutexLock ? "/lock" : "";
		EXPECT_EQ(before_tail(scene), "0:sender.user 8 | 0:sender.kernel 2 | 0:blocked" + part +
										  " 15 by 99 | 0:runqueue 5 | 0:sender.kernel 2 | 0:sender.user 68 | "
										  "0:sender.kernel 80");
	}
}

TEST(Giving, BlockedBeforeTheCall)
{
	Scene scene = polled();
	scene.sleep(kSender, 110, 120, 125, 130, kForeign);
	OffCpu &timer = scene.sleep(kSender, 140, 150, 155, 160, 0);
	timer.waker_context = ICEPATH_CONTEXT_SOFTIRQ;
	timer.waker_vector = 8; // HRTIMER
	EXPECT_EQ(before_tail(scene),
			  "0:sender.user 10 | 0:blocked 15 by 99 | 0:runqueue 5 | 0:sender.user 10 | "
			  "0:blocked/timer 15 by irq 0.8 | 0:runqueue 5 | 0:sender.user 40 | 0:sender.kernel 80");
}

TEST(Giving, InterruptsAreCarved)
{
	Scene scene = polled();
	scene.interrupt(kSenderCpu, 190, 210);
	EXPECT_EQ(before_tail(scene), "0:sender.user 90 | 0:interrupt 20 by irq 2.236 | 0:sender.kernel 70");
}

// After a migration the new CPU's interrupts count, and the old one's don't.
TEST(Giving, AMigratedThreadIsDelayedOnItsNewCpu)
{
	Scene scene = polled();
	scene.preempt(kSender, 120, 150).in_cpu = 5;
	scene.interrupt(kSenderCpu, 160, 170);
	scene.interrupt(5, 180, 185);
	EXPECT_EQ(before_tail(scene), "0:sender.user 20 | 0:preempted 30 | 0:sender.user 30 | 0:interrupt 5 by irq 2.236 | "
								  "0:sender.user 15 | 0:sender.kernel 80");
}

TEST(Giving, WithoutTheDeviceEventAPacketsPathIsNotTold)
{
	Scene scene = polled();
	scene.transfer().through_device = true;
	EXPECT_EQ(scene.text(), "no_evidence");
}

TEST(Giving, AnInterruptWhileItSleepsIsNotOnThePath)
{
	Scene scene = polled();
	scene.sleep(kSender, 210, 240, 250, 260, kReceiver);
	scene.interrupt(kSenderCpu, 220, 230);
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 10 | 0:blocked/backpressure 40 by 20 | "
								  "0:runqueue 10 | 0:sender.kernel 20");
}

TEST(Giving, NetworkFromTheDeviceQueue)
{
	Scene scene = polled();
	scene.transfer().device = at(240);
	scene.transfer().ready_in_softirq = true;
	scene.transfer().ready_interrupt = scene.interrupt(kSenderCpu, 245, 295, ICEPATH_INTERRUPT_SOFTIRQ, 3);
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 40 | 1:network 40");
}

TEST(Giving, HeldAfterTheCallCameBack)
{
	Scene scene = polled();
	scene.transfer().call_return = at(230);
	scene.transfer().device = at(260);
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 30 | 1:network/held 30 | 1:network 20");
}

TEST(Giving, OwnDeviceInterruptStays)
{
	Scene scene = polled();
	scene.transfer().device = at(260);
	scene.transfer().ready_in_softirq = true;
	scene.transfer().device_interrupt = scene.interrupt(kSenderCpu, 245, 270, ICEPATH_INTERRUPT_SOFTIRQ, 2);
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 60 | 1:network 20");
	scene.transfer().device_interrupt.reset();
	EXPECT_EQ(before_tail(scene), "0:sender.user 100 | 0:sender.kernel 45 | 0:interrupt 15 by irq 0.2 | 1:network 20");
}

TEST(Giving, PublishedWithoutACall)
{
	Scene scene = polled();
	Transfer &transfer = scene.transfer();
	transfer.call.reset();
	transfer.call_return.reset();
	transfer.ready.reset();
	transfer.take_call.reset();
	transfer.take_return.reset();
	transfer.by = BySlot{at(280)};
	transfer.taken = at(300);
	EXPECT_EQ(scene.text(), "0:sender.user 180 | 1:propagation 20 | 1:receiver.user 20");
}

} // namespace
} // namespace icepath::path
