// SPDX-License-Identifier: Apache-2.0
// Matches events with messages: TCP by stream offset, UDP by order.
#include "tests/decode/capture_by_hand.h"

#include <gtest/gtest.h>

namespace icepath::decode {
namespace {

TEST(Decode, TcpByStreamOffsetAcrossTheWrap)
{
	Capture capture(kTcp, 6);
	capture.cell.wait = model::Wait::Poll;
	const uint32_t base = 0xffffff00; // wraps within the third message
	for (unsigned i = 0; i < 6; ++i) {
		const uint64_t t = Capture::start(i);
		const uint32_t end = base + (i + 1) * 100;
		Capture::stream(capture.device(t + 120, 60), end - 40);
		Capture::stream(capture.device(t + 130, 40), end);
		Capture::stream(capture.ready(t + 140), end - 40);
		icepath_record &ready = capture.ready(t + 150);
		Capture::stream(ready, end);
		ready.context = ICEPATH_CONTEXT_SOFTIRQ;
		Capture::stream(capture.device(t + 160, 100), end); // a retransmission
	}
	const Observations seen = capture.decoded();
	for (unsigned i = 0; i < 6; ++i) {
		EXPECT_EQ(seen.transfers.at(i).device->at_ns, Capture::start(i) + 130) << i;
		EXPECT_EQ(seen.transfers.at(i).ready->at_ns, Capture::start(i) + 150) << i;
	}
}

TEST(Decode, TcpHeldBytesLeaveWithALaterPacket)
{
	Capture capture(kTcp, 2);
	Capture::stream(capture.device(1130, 100), 600);
	Capture::stream(capture.ready(1150), 600);
	Capture::stream(capture.device(2350, 100), 700); // after the second call came back at 2200
	Capture::stream(capture.ready(2370), 700);
	capture.cell.wait = model::Wait::Poll;
	capture.block.flows[0].recvs[1].take_call_ns = 2500;
	EXPECT_EQ(capture.text(1), "0:sender.user 100 | 0:sender.kernel 100 | 1:network/held 150 | 1:network 20 | "
							   "1:propagation 130 | 1:receiver.kernel 100 | 1:receiver.user 100");
}

// A corked socket may hold any message, also the first.
TEST(Decode, TcpEachMessageMayBeHeld)
{
	Capture capture(kTcp, 2);
	capture.cell.wait = model::Wait::Poll;
	for (unsigned i = 0; i < 2; ++i) {
		const uint64_t t = Capture::start(i);
		Capture::stream(capture.device(t + 350, 100), 600 + 100 * i);
		Capture::stream(capture.ready(t + 370), 600 + 100 * i);
		capture.block.flows[0].recvs[i].take_call_ns = t + 500;
	}
	for (unsigned i = 0; i < 2; ++i)
		EXPECT_EQ(capture.text(i), "0:sender.user 100 | 0:sender.kernel 100 | 1:network/held 150 | 1:network 20 | "
								   "1:propagation 130 | 1:receiver.kernel 100 | 1:receiver.user 100");
}

// A packet from before the block is retransmitted: by it, the second message would have been sent before it was given.
TEST(Decode, TcpThatBeginsWithAnOlderPacketHasNoPath)
{
	Capture capture(kTcp, 3);
	Capture::stream(capture.device(1110, 100), 500);
	for (unsigned i = 0; i < 3; ++i) {
		Capture::stream(capture.device(Capture::start(i) + 130, 100), 600 + i * 100);
		Capture::stream(capture.ready(Capture::start(i) + 150), 600 + i * 100);
	}
	for (unsigned i = 0; i < 3; ++i)
		EXPECT_EQ(capture.text(i), "no_evidence") << i;
}

// Without the first packet no offset is known, and none is better than a wrong one.
TEST(Decode, TcpWithoutItsFirstPacketHasNoPath)
{
	Capture capture(kTcp, 3);
	for (unsigned i = 0; i < 3; ++i) {
		Capture::stream(capture.device(Capture::start(i) + 130, 100), 600 + i * 100);
		Capture::stream(capture.ready(Capture::start(i) + 150), 600 + i * 100);
	}
	EXPECT_NE(capture.text(1), "no_evidence");
	capture.window().slots[0].records.erase(capture.window().slots[0].records.begin());
	for (unsigned i = 0; i < 3; ++i) {
		EXPECT_FALSE(capture.decoded().transfers.at(i).device);
		EXPECT_EQ(capture.text(i), "lost_record");
	}
}

TEST(Decode, UdpInTheSendersCallIsExact)
{
	Capture capture(kUdp);
	capture.device(1130, 100);
	icepath_record &ready = capture.ready(1150);
	ready.context = ICEPATH_CONTEXT_SOFTIRQ;
	icepath_record &softirq = capture.add(0, ICEPATH_RECORD_INTERRUPT, 1180, kSender);
	softirq.interrupt.begin_ns = 1140;
	softirq.interrupt.vector = 3;
	icepath_record &off = capture.slept(850, 1160, 1170, 1250);
	off.context = ICEPATH_CONTEXT_SOFTIRQ;
	off.off.waker_vector = 3;
	EXPECT_EQ(capture.text(),
			  "0:sender.user 100 | 0:sender.kernel 30 | 1:network 20 | 1:network/notify 10' | 1:wakeup 10 | "
			  "1:runqueue 80 | 1:receiver.kernel 350 | 1:receiver.user 100");
	const Transfer transfer = capture.decoded().transfers.at(0);
	EXPECT_EQ(transfer.ready->provenance, Provenance::Exact);
	EXPECT_EQ(transfer.ready_interrupt, 2u);
}

TEST(Decode, UdpElsewhereIsPaired)
{
	Capture capture(kUdp);
	capture.device(1130, 100);
	capture.ready(1250, kForeign, 2).context = ICEPATH_CONTEXT_SOFTIRQ;
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->provenance, Provenance::Paired);
}

// Two in flight: the first readiness is the first datagram's, though the second reached the device queue before it.
TEST(Decode, UdpKeepsTheOrder)
{
	Capture capture(kUdp, 2);
	capture.block.flows[0].recvs[0].take_return_ns = 2700;
	capture.block.flows[0].recvs[0].recv_ns = 2710;
	capture.block.flows[0].recvs[1] = {1, 2720, 0, 2720, 2750, 0, 2760, 1, 0};
	capture.device(1130, 100);
	capture.device(2130, 100);
	capture.ready(2300, kForeign, 2).context = ICEPATH_CONTEXT_SOFTIRQ;
	capture.ready(2400, kForeign, 2).context = ICEPATH_CONTEXT_SOFTIRQ;
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.transfers.at(0).ready->at_ns, 2300u);
	EXPECT_EQ(seen.transfers.at(1).ready->at_ns, 2400u);
	EXPECT_EQ(seen.transfers.at(1).ready->provenance, Provenance::Paired);
	EXPECT_EQ(seen.transfers.at(1).matched_since_ns, 1130u);
}

TEST(Decode, UdpADroppedDatagramIsNotAnnounced)
{
	Capture capture(kUdp, 3);
	capture.block.flows[0].recvs.erase(capture.block.flows[0].recvs.begin() + 1);
	for (unsigned i = 0; i < 3; ++i) {
		capture.device(Capture::start(i) + 130, 100);
		if (i != 1)
			capture.ready(Capture::start(i) + 150);
	}
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 2u);
	EXPECT_EQ(seen.transfers[1].ready->at_ns, 3150u);
}

// Two senders' datagrams into one socket: message i of both at start(i), the second sender's 300 ns later.
struct Gathered : Capture {
	static constexpr uint32_t kSecond = 333;
	static constexpr uint64_t kSecondKey = 9;
	static constexpr uint64_t kLater = 300;

	explicit Gathered(unsigned messages = 1) : Capture(kUdp, messages)
	{
		cell.pattern = model::Pattern::FanIn;
		cell.graph = model::star(2, {0, 0, kReceiverCpu}, model::Between::Processes, false);
		block.sides = {block.sides[0], block.sides[0], block.sides[1]};
		block.sides[1].tid = kSecond;
		block.flows.push_back({kSecondKey, kReceiverKey, {}, {}});
		for (unsigned i = 0; i < messages; ++i) {
			const uint64_t t = start(i) + kLater, taken = start(i) + 720;
			block.flows[1].sends.push_back({i, t, t, t + 100, 0, t + 200, 1, 0, 0});
			block.flows[1].recvs.push_back({i, taken - 10, 0, taken - 10, taken, 0, taken + 10, 1, 0});
		}
	}
	icepath_record &queued(uint64_t at, uint32_t tid, unsigned slot)
	{
		icepath_record &record = add(slot, ICEPATH_RECORD_DEVICE_QUEUE, at, tid);
		record.socket.socket = tid == kSecond ? kSecondKey : kSenderKey;
		record.socket.bytes = 100;
		return record;
	}
	void announced(uint64_t at, unsigned slot) { ready(at, kForeign, slot).context = ICEPATH_CONTEXT_SOFTIRQ; }
	std::optional<uint64_t> ready_of(const Observations &seen, size_t transfer) const
	{
		const auto &mark = seen.transfers.at(transfer).ready;
		return mark ? std::optional(mark->at_ns) : std::nullopt;
	}
};

TEST(DecodeGathered, EachDatagramInItsSendersCallIsExact)
{
	Gathered capture;
	capture.queued(1130, kSender, 0);
	capture.announced(1150, 0);
	capture.queued(1430, Gathered::kSecond, 0);
	capture.announced(1450, 0);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 2u);
	EXPECT_EQ(capture.ready_of(seen, 0), 1150u);
	EXPECT_EQ(capture.ready_of(seen, 1), 1450u);
	EXPECT_EQ(seen.transfers[1].ready->provenance, Provenance::Exact);
	EXPECT_EQ(seen.deliveries[1].sender, Gathered::kSecond);
	for (const Delivery &delivery : seen.deliveries)
		EXPECT_TRUE(walk(seen, delivery).complete());
}

// CPUs' backlogs are independent: the first sender's datagram is announced after the second's.
TEST(DecodeGathered, EachCpuHasAnOrderOfItsOwn)
{
	Gathered capture;
	capture.queued(1130, kSender, 0);
	capture.announced(1480, 0);
	capture.queued(1430, Gathered::kSecond, 1);
	capture.announced(1450, 1);
	const Observations seen = capture.decoded();
	EXPECT_EQ(capture.ready_of(seen, 0), 1480u);
	EXPECT_EQ(capture.ready_of(seen, 1), 1450u);
	EXPECT_EQ(seen.transfers[0].ready->provenance, Provenance::Paired) << "after its call";
}

TEST(DecodeGathered, OneCpuKeepsTheOrderOfAllItsSenders)
{
	Gathered capture;
	capture.queued(1130, kSender, 0);
	capture.queued(1430, Gathered::kSecond, 0);
	capture.announced(1480, 0);
	capture.announced(1490, 0);
	const Observations seen = capture.decoded();
	EXPECT_EQ(capture.ready_of(seen, 0), 1480u);
	EXPECT_EQ(capture.ready_of(seen, 1), 1490u);
	EXPECT_EQ(seen.transfers[1].ready->provenance, Provenance::Paired);
	EXPECT_EQ(seen.transfers[1].matched_since_ns, 1130u);
}

// The first one's announcement is lost, and by that window so is its path. The second one's isn't affected.
TEST(DecodeGathered, WhatWasTakenWaitsForNoAnnouncementAnyMore)
{
	Gathered capture(2);
	capture.queued(1130, kSender, 0);
	capture.queued(1430, Gathered::kSecond, 0);
	capture.announced(1450, 0);
	capture.queued(2130, kSender, 0);
	capture.announced(2150, 0);
	const Observations seen = capture.decoded();
	EXPECT_EQ(capture.ready_of(seen, 1), 2150u) << "message 1 of the first sender";
	EXPECT_EQ(seen.transfers[1].ready->provenance, Provenance::Exact);
	EXPECT_EQ(seen.transfers[2].matched_since_ns, 1130u) << "message 0 of the second could have the first's";
}

TEST(DecodeGathered, WherePacketsMoveToOtherCpusNothingIsTold)
{
	Gathered capture;
	capture.queued(1130, kSender, 0);
	capture.announced(1150, 1);
	capture.queued(1430, Gathered::kSecond, 1);
	capture.announced(1450, 0);
	const Observations seen = capture.decoded();
	EXPECT_FALSE(capture.ready_of(seen, 0));
	EXPECT_FALSE(capture.ready_of(seen, 1));
	for (const Delivery &delivery : seen.deliveries)
		EXPECT_TRUE(walk(seen, delivery).complete()) << "inferred";
}

// If messages were lost, each sender closes the block with one that isn't counted.
TEST(DecodeGathered, WhatComesAfterTheLastMessageTakesNothingBack)
{
	Gathered capture;
	capture.queued(1130, kSender, 0);
	capture.announced(1150, 0);
	capture.queued(1430, Gathered::kSecond, 0);
	capture.announced(1450, 0);
	capture.queued(60'000, kSender, 0);
	capture.announced(60'020, 0);
	const Observations seen = capture.decoded();
	EXPECT_EQ(capture.ready_of(seen, 0), 1150u);
	EXPECT_EQ(capture.ready_of(seen, 1), 1450u);
}

TEST(DecodeGathered, ADroppedDatagramIsNotAnnounced)
{
	Gathered capture(2);
	capture.block.flows[0].recvs.erase(capture.block.flows[0].recvs.begin());
	capture.queued(1130, kSender, 0);
	capture.queued(1430, Gathered::kSecond, 0);
	capture.announced(1450, 0);
	capture.queued(2130, kSender, 0);
	capture.announced(2150, 0);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 3u);
	EXPECT_EQ(capture.ready_of(seen, 0), 2150u);
	EXPECT_EQ(capture.ready_of(seen, 1), 1450u);
}

// Each sender announces on top of itself, at the same socket.
TEST(DecodeGathered, UnixDatagramsAreTheirSendersOwn)
{
	Gathered capture;
	capture.cell.mechanisms = kUnixSocket;
	capture.ready(1150);
	capture.ready(1160, Gathered::kSecond);
	capture.ready(1450, Gathered::kSecond);
	capture.ready(1460);
	Observations seen = capture.decoded();
	EXPECT_EQ(capture.ready_of(seen, 0), 1150u);
	EXPECT_EQ(capture.ready_of(seen, 1), 1450u);

	// Another cell sender's announcement during a call doesn't belong to this sender.
	capture.window().slots[0].records.erase(capture.window().slots[0].records.begin());
	capture.window().slots[0].records[0].seq = 0;
	seen = capture.decoded();
	EXPECT_FALSE(capture.ready_of(seen, 0));
}

constexpr model::Mechanisms kVsock = {Mechanism::Socket, Mechanism::ByteStream, Mechanism::KernelThread};

TEST(Decode, WhatAKernelThreadCarriesOnIsReadyWhenThatAnnouncesIt)
{
	Capture capture(kVsock);
	capture.ready(1300, kForeign);
	capture.slept(850, 1310, 1330, 1400, kForeign);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 100~ | 1:network 100' | 1:network/notify 10' | "
							  "1:wakeup 20 | 1:runqueue 70 | 1:receiver.kernel 200 | 1:receiver.user 100");
}

// It woke the receiver for something that it announced elsewhere in between, or for something else.
TEST(Decode, WhatAKernelThreadWakesForAfterItsNextAnnouncementIsNotTheMessage)
{
	Capture capture(kVsock);
	capture.ready(1300, kForeign);
	capture.ready(1305, kForeign).socket.socket = kReceiverKey + 1;
	capture.slept(850, 1310, 1330, 1400, kForeign);
	EXPECT_EQ(capture.text(), "no_evidence");
	capture.window().slots[1].records.back().off.waking_ns = 1304;
	EXPECT_TRUE(capture.text().starts_with("0:sender.user 100 | ")) << capture.text();
}

TEST(Decode, WhatAKernelThreadCarriesOnIsReadyWhenThatWakesTheReceiver)
{
	Capture capture(kVsock);
	capture.slept(850, 1310, 1330, 1400, kForeign);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 100~ | 1:network 110' | 1:wakeup 20 | "
							  "1:runqueue 70 | 1:receiver.kernel 200 | 1:receiver.user 100");
}

// A terminal has no socket that would announce it.
TEST(Decode, WhatAKernelThreadCarriesOnWithoutASocketIsReadyWhenThatWakesTheReceiver)
{
	Capture capture({Mechanism::ByteStream, Mechanism::KernelThread});
	capture.slept(850, 1310, 1330, 1400, kForeign);
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 100~ | 1:network 110' | 1:wakeup 20 | "
							  "1:runqueue 70 | 1:receiver.kernel 200 | 1:receiver.user 100");
}

TEST(Decode, WhatAKernelThreadCarriesOnMayBeReadyUntilItIsTaken)
{
	Capture capture(kVsock);
	capture.cell.wait = model::Wait::Poll;
	capture.block.flows[0].recvs[0].take_call_ns = 1550;
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 0:sender.kernel 100~ | 1:network 350~ | 1:receiver.kernel 50 | "
							  "1:receiver.user 100");
}

TEST(Decode, OfSeveralCarriedInFlightNoneIsTheOneThatWasAnnounced)
{
	Capture capture(kVsock, 2);
	capture.block.flows[0].recvs[0].take_return_ns = 2150; // after the second message was sent
	capture.block.flows[0].recvs[0].recv_ns = 2160;
	capture.block.flows[0].recvs[1].ask_ns = 2165;
	capture.block.flows[0].recvs[1].take_call_ns = 2170;
	capture.ready(1300, kForeign);
	capture.ready(2140, kForeign);
	EXPECT_FALSE(capture.decoded().transfers.at(0).ready);
	EXPECT_FALSE(capture.decoded().transfers.at(1).ready);
}

} // namespace
} // namespace icepath::decode
