// SPDX-License-Identifier: Apache-2.0
// TCP by stream offset, UDP by order: which event is which message's.
#include "tests/path/capture_by_hand.h"

#include <gtest/gtest.h>

namespace icepath::path {
namespace {

TEST(Decode, TcpByStreamOffsetAcrossTheWrap)
{
	Capture capture(kTcp, 6);
	capture.cell.wait = rundir::Wait::Poll;
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
	capture.cell.wait = rundir::Wait::Poll;
	capture.block.flows[0].recvs[1].take_call_ns = 2500;
	EXPECT_EQ(capture.text(1), "0:sender.user 100 | 0:sender.kernel 100 | 1:network/held 150 | 1:network 20 | "
							   "1:propagation 130 | 1:receiver.kernel 100 | 1:receiver.user 100");
}

// Without the first packet no offset is known, and a wrong one would be worse than none.
TEST(Decode, TcpWithoutItsFirstPacketHasNoPath)
{
	Capture capture(kTcp, 3);
	for (unsigned i = 0; i < 3; ++i) {
		Capture::stream(capture.device(Capture::start(i) + 130, 100), 600 + i * 100);
		Capture::stream(capture.ready(Capture::start(i) + 150), 600 + i * 100);
	}
	EXPECT_NE(capture.text(1), "no_evidence");
	capture.block.slots[0].records.erase(capture.block.slots[0].records.begin());
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

// Two in flight: the first readiness is the first datagram's, though the second one's device queue came before it.
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

} // namespace
} // namespace icepath::path
