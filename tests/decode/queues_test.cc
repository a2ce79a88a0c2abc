// SPDX-License-Identifier: Apache-2.0
// A message is ready when a kernel function puts it into its queue, where that function is probed.
#include "tests/decode/capture_by_hand.h"

#include <gtest/gtest.h>

namespace icepath::decode {
namespace {

icepath_record &enqueued(Capture &capture, uint64_t at, uint64_t key = 0, uint32_t tid = kSender)
{
	icepath_record &record = capture.add(0, ICEPATH_RECORD_ENQUEUED, at, tid);
	record.socket.socket = key;
	return record;
}

TEST(Decode, APipesMessageIsReadyWithItsLastPart)
{
	Capture capture({Mechanism::ByteStream, Mechanism::Pipe}, 2);
	enqueued(capture, 1120);
	enqueued(capture, 1140);
	enqueued(capture, 2130);
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.transfers.at(0).ready->at_ns, 1140u);
	EXPECT_EQ(seen.transfers.at(0).ready->provenance, Provenance::Exact);
	EXPECT_EQ(seen.transfers.at(1).ready->at_ns, 2130u);
}

TEST(Decode, AMessageQueuesMessageIsReadyWhereItWasPut)
{
	Capture capture({Mechanism::MessageQueue});
	capture.slept(850, 1150, 1170, 1250);
	EXPECT_EQ(capture.text().find("0:sender.user 100 | 0:sender.kernel 50"), 0u) << "the waking tells it";
	enqueued(capture, 1130);
	EXPECT_EQ(capture.text().find("0:sender.user 100 | 0:sender.kernel 30 | 1:sender.kernel/notify 20"), 0u)
		<< capture.text();
}

TEST(Decode, AMappedQueuesMessageIsTakenWhereItWasSeenUnlessACallTookIt)
{
	Capture capture({Mechanism::MappedQueue}, 2);
	capture.cell.wait = model::Wait::Poll;
	model::RecvStamp &seen = capture.block.flows[0].recvs[0];
	seen.take_call_ns = seen.take_return_ns = 0;
	seen.observe_ns = 1250;
	EXPECT_EQ(capture.text(0), "0:sender.user 100 | 0:sender.kernel 100~ | 1:propagation 50 | 1:receiver.user 450");
	EXPECT_FALSE(capture.decoded().transfers.at(1).taken);
	EXPECT_EQ(capture.decoded().transfers.at(1).take_return->at_ns, 2600u);
}

TEST(Decode, OnlyTheSenderInItsCallPutsAMessageThere)
{
	Capture capture({Mechanism::MessageQueue});
	enqueued(capture, 1090); // before the call
	enqueued(capture, 1130, 0, kReceiver);
	enqueued(capture, 1140, kReceiverKey); // in a socket
	enqueued(capture, 1150).context = ICEPATH_CONTEXT_SOFTIRQ; // on top of the sender, from another
	enqueued(capture, 1210); // after it
	EXPECT_FALSE(capture.decoded().transfers.at(0).ready);
}

// A full queue: the receiver takes a message, inserts the sleeping sender's message before it returns, and wakes the
// sender.
TEST(Decode, WhoMakesRoomPutsTheSleepingSendersMessageThere)
{
	Capture capture({Mechanism::MessageQueue});
	icepath_record &off = capture.add(0, ICEPATH_RECORD_OFF_CPU, 1190, kSender);
	off.off.out_ns = 1120;
	off.off.waking_ns = 1160;
	off.off.wakeup_ns = 1170;
	off.off.waker_tid = kReceiver;
	enqueued(capture, 1145, 0, kReceiver); // at its insertion: its sender isn't known yet
	enqueued(capture, 1148, 0, kReceiver).socket.woken_tid = kSender + 7; // another sender's
	enqueued(capture, 1150, 0, kReceiver).socket.woken_tid = kSender;
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1150u);
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->provenance, Provenance::Exact);
	EXPECT_EQ(capture.text().find("0:sender.user 100 | 0:sender.kernel 20 | 0:blocked/backpressure 30 by 20 | 1:"), 0u)
		<< capture.text();
}

TEST(Decode, AMessageThatIsHandedOverGoesToWhoIsWoken)
{
	Capture capture({Mechanism::MessageQueue});
	enqueued(capture, 1130).socket.woken_tid = kReceiver + 9; // of a lock or a futex
	EXPECT_FALSE(capture.decoded().transfers.at(0).ready);
	enqueued(capture, 1140).socket.woken_tid = kReceiver;
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1140u);
}

TEST(Decode, ASocketHasAMessageBeforeItIsAnnounced)
{
	Capture capture(kUnixSocket);
	capture.cell.wait = model::Wait::Poll;
	capture.block.flows[0].recvs[0].take_return_ns = 1145; // before the announcement
	enqueued(capture, 1130, kReceiverKey);
	capture.ready(1150);
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1130u);
	EXPECT_EQ(capture.text().find("0:sender.user 100 | 0:sender.kernel 30 | "), 0u) << capture.text();
	EXPECT_EQ(capture.text().find('?'), std::string::npos) << "nothing is inferred: " << capture.text();
}

TEST(Decode, TcpIsReadyWithTheSegmentThatCompletesIt)
{
	Capture capture(kTcp, 2);
	for (unsigned i = 0; i < 2; ++i) {
		const uint64_t t = Capture::start(i);
		const uint32_t end = 600 + i * 100;
		Capture::stream(capture.device(t + 120, 100), end);
		Capture::stream(enqueued(capture, t + 130, kReceiverKey), end - 40);
		Capture::stream(enqueued(capture, t + 135, kReceiverKey), end);
		Capture::stream(capture.ready(t + 150), end);
	}
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1135u);
	EXPECT_EQ(capture.decoded().transfers.at(1).ready->at_ns, 2135u);
}

// Out of order: the later segment makes the earlier one ready too, and only the later one has a record.
TEST(Decode, TcpIsReadyWhenItWasAnnouncedWhereTheQueueTellsItLater)
{
	Capture capture(kTcp);
	Capture::stream(capture.device(1120, 100), 600);
	Capture::stream(capture.ready(1150), 600);
	Capture::stream(enqueued(capture, 1190, kReceiverKey), 700);
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1150u);
}

// A kernel thread that sends for the sender isn't a worker: what it queues has no record.
TEST(Decode, WhatWasNotSeenInTheQueueIsReadyWhenItWasAnnounced)
{
	Capture capture(kUnixSocket, 2);
	enqueued(capture, 1130, kReceiverKey);
	capture.ready(1150);
	capture.ready(2150);
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1130u);
	EXPECT_EQ(capture.decoded().transfers.at(1).ready->at_ns, 2150u);
}

// Kprobes are dropped without a trace, so another record may be missing.
TEST(Decode, WhatRestsOnAKprobeIsNeverExact)
{
	Capture capture(kUnixSocket);
	capture.ready(1150).flags = ICEPATH_TIER_FENTRY << ICEPATH_FLAG_TIER_SHIFT;
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->provenance, Provenance::Exact);
	capture.window().slots[0].records[0].flags = ICEPATH_TIER_KPROBE << ICEPATH_FLAG_TIER_SHIFT;
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->provenance, Provenance::Paired);
}

// The probe is at the entry of the queueing function: a sender that loses its CPU there hasn't queued yet.
TEST(Decode, ASenderThatLostItsCpuBeforeItAnnouncedHadNotQueuedYet)
{
	Capture capture(kUnixSocket);
	enqueued(capture, 1130, kReceiverKey);
	capture.ready(1180);
	icepath_record &off = capture.add(0, ICEPATH_RECORD_OFF_CPU, 1170, kSender);
	off.off.out_ns = 1140;
	off.off.reason = ICEPATH_OFF_PREEMPTED;
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1180u);
}

} // namespace
} // namespace icepath::decode
