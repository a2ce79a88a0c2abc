// SPDX-License-Identifier: Apache-2.0
// What records show of a CPU besides its tasks: idle time, throttling, and whose packets its softirqs handled.
#include <gtest/gtest.h>

#include "tests/decode/capture_by_hand.h"

namespace icepath::decode {
namespace {

std::string shares(const Capture &capture)
{
	const Observations seen = capture.decoded();
	return shares_of(walk(seen, seen.deliveries.at(0)));
}

// Woken as the message is ready, runnable at 1200, in at 1250.
Capture woken()
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	return capture;
}

void foreign_run(Capture &capture, uint64_t in, uint64_t out, uint16_t flags = 0)
{
	icepath_record &record = capture.add(1, ICEPATH_RECORD_FOREIGN_RUN, out, kForeign);
	record.run.in_ns = in;
	record.flags = flags;
}

TEST(DecodeShares, WithoutARecordOfItAGapIsUnknown)
{
	Capture capture = woken();
	EXPECT_EQ(shares(capture), "runqueue: unknown 50");
	capture.window().slots[1].records.back().flags = ICEPATH_FLAG_FROM_IDLE;
	EXPECT_EQ(shares(capture), "runqueue: idle 50");
}

TEST(DecodeShares, ARunsOwnFlagIsOfTheGapBeforeIt)
{
	Capture capture = woken();
	foreign_run(capture, 1220, 1240, ICEPATH_FLAG_FROM_IDLE);
	EXPECT_EQ(shares(capture), "runqueue: idle 20, 99 20, unknown 10");
}

// The task that had the CPU as the block began leaves no record of that.
TEST(DecodeShares, NothingIsKnownBeforeTheFirstSwitch)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	icepath_record &slept = capture.slept(850, 1160, 1200, 1250);
	slept.off.out_cpu = 2;
	slept.flags = ICEPATH_FLAG_FROM_IDLE;
	EXPECT_EQ(shares(capture), "runqueue: unknown 50");
	foreign_run(capture, 1100, 1210);
	EXPECT_EQ(shares(capture), "runqueue: 99 10, idle 40");
}

TEST(DecodeShares, OnlyInABlockThatWasThrottledAnIdleCpuIsThat)
{
	Capture capture = woken();
	capture.window().slots[1].records.back().flags = ICEPATH_FLAG_FROM_IDLE | ICEPATH_FLAG_WENT_IDLE;
	EXPECT_EQ(shares(capture), "runqueue: idle 50") << "nothing was read";
	capture.window().times_throttled = 0;
	EXPECT_EQ(shares(capture), "runqueue: idle 50");
	capture.window().times_throttled = 1;
	EXPECT_EQ(shares(capture), "runqueue: throttled 50");
}

// A message over TCP on loopback whose receiver acknowledges within its call.
Capture acknowledged(uint32_t packets, uint32_t run_packets, uint16_t flags = ICEPATH_FLAG_PACKETS)
{
	Capture capture(kTcp);
	Capture::stream(capture.device(1120, 100), 100);
	Capture::stream(capture.ready(1150), 100);
	capture.slept(850, 1160, 1200, 1250);
	icepath_record &softirq = capture.add(1, ICEPATH_RECORD_INTERRUPT, 1500, kReceiver);
	softirq.context = ICEPATH_CONTEXT_SOFTIRQ;
	softirq.flags = flags;
	softirq.interrupt.begin_ns = 1400;
	softirq.interrupt.vector = 3;
	softirq.interrupt.kind = ICEPATH_INTERRUPT_SOFTIRQ;
	softirq.interrupt.sockets[0] = kSenderKey;
	softirq.interrupt.packets = packets;
	softirq.interrupt.run_packets = run_packets;
	return capture;
}

bool is_own(const Capture &capture)
{
	const std::string text = capture.text();
	const bool own = text.find("1:receiver.kernel/softirq 100") != std::string::npos;
	EXPECT_NE(own, text.find("1:interrupt 100 by irq 0.3") != std::string::npos) << text;
	return own;
}

TEST(DecodeShares, ASoftirqWithNoPacketsButItsConnectionsIsTheCalls)
{
	EXPECT_TRUE(is_own(acknowledged(1, 1)));
	EXPECT_TRUE(is_own(acknowledged(3, 3)));
	EXPECT_FALSE(is_own(acknowledged(2, 1))) << "one of somebody else's, or one that waits for its socket's owner";
	EXPECT_FALSE(is_own(acknowledged(0, 0)));
	EXPECT_FALSE(is_own(acknowledged(1, 1, 0))) << "written by a version that left old bytes there";
	Capture other = acknowledged(1, 1);
	other.window().slots[1].records.back().interrupt.sockets[0] = 4711;
	EXPECT_FALSE(is_own(other)) << "another cell's";
}

} // namespace
} // namespace icepath::decode
