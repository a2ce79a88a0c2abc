// SPDX-License-Identifier: Apache-2.0
// Hand-made timelines of interrupts beside what they did.
#include "profiler/decode/own_interrupts.h"

#include <gtest/gtest.h>

#include "ebpf/records.h"

namespace icepath::decode {
namespace {

using Work = path::Culprit::Work;

constexpr uint32_t kTimer = 1, kNetRx = 3, kTasklet = 6, kHrtimer = 8;
constexpr uint32_t kSender = 10, kHelper = 11, kForeign = 99;
constexpr uint64_t kKey = 7, kLibrarysOwn = 70, kOthers = 9;

// A cell's sender and a thread of its library, on CPU 0.
struct Timeline {
	Timeline()
	{
		for (const uint32_t tid : {kSender, kHelper}) {
			seen.threads[tid].tid = tid;
			seen.threads[tid].process = kSender;
		}
		block.flows.resize(1);
		block.flows[0].sender_key = kKey;
	}
	Interrupt &interrupt(uint64_t begin_ns, uint64_t end_ns, uint8_t kind, uint32_t vector = 0, uint32_t tid = kSender)
	{
		return seen.cpus[0].interrupts.emplace_back(
			Interrupt{.begin_ns = begin_ns, .end_ns = end_ns, .kind = kind, .vector = vector, .tid = tid});
	}
	Interrupt &softirq(uint64_t begin_ns, uint64_t end_ns, uint32_t vector, uint32_t tid = kSender)
	{
		Interrupt &one = interrupt(begin_ns, end_ns, ICEPATH_INTERRUPT_SOFTIRQ, vector, tid);
		one.has_packets = vector == kNetRx;
		return one;
	}
	void call(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, Call::Kind kind = Call::Kind::Send)
	{
		seen.threads[tid].calls.push_back({begin_ns, end_ns, kind, {}});
	}
	void queued(uint64_t at_ns, uint64_t socket)
	{
		SocketEvent &event = events.device.emplace_back();
		event.at_ns = at_ns;
		event.socket = socket;
		event.context = ICEPATH_CONTEXT_SOFTIRQ;
	}
	std::vector<Work> told()
	{
		tell_own_work(block, events, seen);
		std::vector<Work> works;
		for (const Interrupt &one : seen.cpus[0].interrupts)
			works.push_back(one.work);
		return works;
	}

	model::Block block;
	SocketEvents events;
	Observations seen;
};

// Over loopback each datagram of a message is delivered within the call that sends it.
TEST(OwnWork, IsASoftirqOfPacketsThatOnlyTheThreadsCallCanHaveRaised)
{
	Timeline line;
	line.call(kSender, 100, 900);
	line.softirq(200, 300, kNetRx);
	line.softirq(400, 500, kNetRx);
	line.softirq(850, 950, kNetRx); // goes on after the call
	line.softirq(1000, 1100, kNetRx); // outside of calls
	EXPECT_EQ(line.told(), (std::vector{Work::OwnPackets, Work::OwnPackets, Work::NotTold, Work::NotTold}));
}

// Of five fragments, the last one announces the datagram.
TEST(OwnWork, IsThatOfADatagramsFragments)
{
	Timeline line;
	line.call(kSender, 100, 900);
	line.softirq(200, 300, kNetRx).named = {kKey, 0};
	line.softirq(400, 500, kNetRx).named = {kOthers, 0};
	line.events.ready.emplace_back().socket = kKey;
	EXPECT_EQ(line.told(), (std::vector{Work::OwnPackets, Work::NotTold}));
	line.seen.cpus[0].interrupts[0].work = Work::NotTold;
	line.events.ready[0].has_stream_end = true; // TCP names the socket of each packet: the others aren't its
	EXPECT_EQ(line.told()[0], Work::NotTold);
}

TEST(OwnWork, IsNoneThatADeviceMayHaveRaised)
{
	Timeline line;
	line.call(kSender, 100, 900);
	line.interrupt(150, 160, ICEPATH_INTERRUPT_DEVICE, 24);
	line.softirq(200, 300, kNetRx);
	line.softirq(400, 500, kNetRx); // what the device raised is done
	EXPECT_EQ(line.told(), (std::vector{Work::NotTold, Work::NotTold, Work::OwnPackets}));
}

TEST(OwnWork, IsNoneOfOtherThreadsAndOtherCalls)
{
	Timeline line;
	line.call(kHelper, 100, 900, Call::Kind::FutexWait);
	line.softirq(200, 300, kNetRx, kHelper);
	line.softirq(400, 500, kNetRx, kForeign);
	line.call(kSender, 600, 900);
	line.softirq(700, 800, 4); // BLOCK
	EXPECT_EQ(line.told(), (std::vector{Work::NotTold, Work::NotTold, Work::NotTold}));
	line.seen.threads[kSender].of_another_cell = true;
	line.softirq(820, 830, kNetRx);
	EXPECT_EQ(line.told().back(), Work::NotTold) << "of a cell that is measured at the same time";
}

TEST(OwnWork, IsASoftirqThatHandledPacketsOfTheCellsSocketsOnly)
{
	Timeline line;
	line.call(kHelper, 10, 20, Call::Kind::Receive);
	line.seen.threads[kHelper].calls.back().object = kLibrarysOwn;
	line.softirq(100, 200, kNetRx, kForeign).sockets = {kKey, 0};
	line.softirq(300, 400, kNetRx, kForeign).sockets = {kKey, kLibrarysOwn};
	line.softirq(500, 600, kNetRx, kForeign).sockets = {kKey, kOthers};
	line.softirq(700, 800, kNetRx, kForeign); // foreign packets as well
	EXPECT_EQ(line.told(), (std::vector{Work::OwnPackets, Work::OwnPackets, Work::NotTold, Work::NotTold}));
}

// TCP's pacing: hrtimer_interrupt() raises HRTIMER, tcp_pace_kick() the tasklet that sends.
TEST(OwnTimers, BeginASoftirqThatSendsForTheCell)
{
	Timeline line;
	line.interrupt(100, 110, ICEPATH_INTERRUPT_TIMER);
	line.softirq(111, 120, kHrtimer, kForeign);
	line.softirq(121, 200, kTasklet, kForeign);
	line.queued(150, kKey);
	line.softirq(300, 400, kTimer, kForeign); // a retransmission
	line.queued(350, kKey);
	line.softirq(500, 600, kTimer, kForeign); // another socket's
	line.queued(550, kOthers);
	EXPECT_EQ(line.told(),
			  (std::vector{Work::OwnTimer, Work::OwnTimer, Work::OwnPackets, Work::OwnTimer, Work::NotTold}));
}

TEST(OwnTimers, WakeThreadsOfTheCell)
{
	Timeline line;
	line.interrupt(100, 150, ICEPATH_INTERRUPT_TIMER); // the tick
	line.interrupt(200, 250, ICEPATH_INTERRUPT_TIMER); // the helper's usleep()
	OffCpu off;
	off.out_ns = 50;
	off.waking_ns = 230;
	off.wakeup_ns = 240;
	off.in_ns = 260;
	off.waker_context = ICEPATH_CONTEXT_HARDIRQ;
	off.waker_vector = ICEPATH_INTERRUPT_TIMER;
	line.seen.threads[kHelper].off.push_back(off);
	EXPECT_EQ(line.told(), (std::vector{Work::NotTold, Work::OwnTimer}));
}

TEST(OwnTimers, AreNotThoseOfOthersThatExpireInASoftirq)
{
	Timeline line;
	line.interrupt(100, 110, ICEPATH_INTERRUPT_TIMER);
	line.softirq(111, 120, kHrtimer, kForeign);
	line.interrupt(300, 310, ICEPATH_INTERRUPT_TIMER); // the tick
	line.softirq(311, 320, kTimer, kForeign);
	EXPECT_EQ(line.told(), (std::vector{Work::OtherTimer, Work::OtherTimer, Work::NotTold, Work::NotTold}));
}

// Where the kernel tells the function of the timer that took longest.
TEST(OwnTimers, AreToldApartFromTheTickByTheirFunctions)
{
	Timeline line;
	line.interrupt(100, 150, ICEPATH_INTERRUPT_TIMER).timer = ICEPATH_TIMER_TICK;
	line.softirq(151, 160, kTimer, kForeign); // raised by the tick: nothing was due
	line.interrupt(200, 250, ICEPATH_INTERRUPT_TIMER).timer = ICEPATH_TIMER_PERF;
	line.softirq(300, 310, kTimer, kForeign).timer = ICEPATH_TIMER_DELAYED_ACK;
	line.softirq(400, 410, kHrtimer, kForeign).timer = ICEPATH_TIMER_OTHER;
	EXPECT_EQ(line.told(),
			  (std::vector{Work::NotTold, Work::NotTold, Work::OtherTimer, Work::OtherTimer, Work::OtherTimer}));
}

TEST(OwnTimers, LeaveTheTickWhatItIsWhereASoftirqOfTimersFollows)
{
	Timeline line;
	line.interrupt(100, 110, ICEPATH_INTERRUPT_TIMER).timer = ICEPATH_TIMER_TICK;
	line.softirq(111, 120, kHrtimer, kForeign).timer = ICEPATH_TIMER_PACING;
	line.softirq(121, 200, kTasklet, kForeign);
	line.queued(150, kKey);
	EXPECT_EQ(line.told(), (std::vector{Work::NotTold, Work::OwnTimer, Work::OwnPackets}));
}

TEST(OwnTimers, AreThoseThatWakeThreadsOfTheCellWhateverTheirFunction)
{
	Timeline line;
	line.interrupt(200, 250, ICEPATH_INTERRUPT_TIMER).timer = ICEPATH_TIMER_WAKES;
	line.interrupt(300, 350, ICEPATH_INTERRUPT_TIMER).timer = ICEPATH_TIMER_WAKES; // another thread's
	OffCpu off;
	off.out_ns = 50;
	off.waking_ns = 230;
	off.wakeup_ns = 240;
	off.in_ns = 260;
	off.waker_context = ICEPATH_CONTEXT_HARDIRQ;
	off.waker_vector = ICEPATH_INTERRUPT_TIMER;
	line.seen.threads[kHelper].off.push_back(off);
	EXPECT_EQ(line.told(), (std::vector{Work::OwnTimer, Work::OtherTimer}));
}

TEST(Helpers, AreKernelThreadsThatWakeTheCellsOrCarryItsPackets)
{
	Timeline line;
	OffCpu off;
	off.waker_context = ICEPATH_CONTEXT_TASK;
	off.waker_vector = ICEPATH_WAKER_KERNEL_THREAD;
	off.waker_tid = 50;
	line.seen.threads[kSender].off.push_back(off);
	off.waker_vector = ICEPATH_WAKER_THREAD;
	off.waker_tid = 51;
	line.seen.threads[kSender].off.push_back(off);
	line.seen.task_names = {{60, "ksoftirqd/0"}, {61, "bash"}};
	for (const uint32_t tid : {60u, 61u}) {
		line.queued(100, kKey);
		line.events.device.back().tid = tid;
	}
	Transfer &carried = line.seen.transfers.emplace_back();
	carried.by = ByCall{true};
	carried.ready_tid = 70;
	line.seen.transfers.emplace_back(carried).by = ByCall{false};
	line.seen.transfers.back().ready_tid = 71;
	(void)line.told();
	EXPECT_EQ(line.seen.helpers, (std::set<uint32_t>{50, 60, 70}));
}

TEST(OwnWork, HasTheThreadsOfIoUringThatAreNamedAfterItsOwn)
{
	Timeline line;
	line.seen.task_names = {
		{80, "iou-sqp-10"}, {81, "iou-wrk-11"}, {82, "iou-sqp-99"}, {83, "iou-sqp-"}, {84, "sqp-10"}};
	(void)line.told();
	EXPECT_EQ(line.seen.helpers, (std::set<uint32_t>{80, 81})) << "of the sender, and of the library's thread";
}

} // namespace
} // namespace icepath::decode
