// SPDX-License-Identifier: Apache-2.0
// The decoder: records and stamps made by hand beside what the walk gets from them, and whatever a hostile worker may write.
#include "profiler/path/decode.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "icepath/plugin.h"
#include "tests/path/scene.h"

namespace icepath::path {
namespace {

constexpr uint64_t kSenderKey = 7, kReceiverKey = 8;
constexpr uint32_t kUnixSocket = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY;
constexpr uint32_t kTcp = kUnixSocket | ICEPATH_USES_NETDEV | ICEPATH_USES_BYTE_STREAM;
constexpr uint32_t kUdp = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV;

// One-way messages of 100 bytes, message i in [1000 * (i + 1), 1000 * (i + 2)): send at 0, call [100, 200), receiver's wait
// since -200, taken by 600, recv at 700.
struct Capture {
	explicit Capture(uint32_t mechanisms, unsigned messages = 1)
	{
		cell.pattern = rundir::Pattern::OneWay;
		cell.mechanisms = mechanisms;
		cell.payload_bytes = 100;
		block.probed = true;
		block.begin.monotonic_ns = 10;
		block.finish.monotonic_ns = 1'000'000;
		block.sides[0].tid = kSender;
		block.sides[1].tid = kReceiver;
		block.sides[1].cpu = kReceiverCpu;
		block.socket_keys = {kSenderKey, kReceiverKey};
		block.slots.resize(3);
		for (int slot = 0; slot < 3; ++slot)
			block.slots[slot].cpu = slot == 2 ? -1 : slot;
		for (unsigned i = 0; i < messages; ++i) {
			const uint64_t t = start(i);
			block.sides[0].sends.push_back({i, t, t, t + 100, 0, t + 200, 1, 0, 0});
			block.sides[1].recvs.push_back({i, t - 200, 0, t - 199, t + 600, 0, t + 700, 1, 0});
		}
	}
	static uint64_t start(unsigned i) { return 1000ull * (i + 1); }

	icepath_record &add(unsigned slot, icepath_record_type type, uint64_t end, uint32_t tid)
	{
		icepath_record record{};
		record.type = type;
		record.version = ICEPATH_RECORD_VERSION;
		record.bytes = sizeof(record);
		record.seq = block.slots[slot].position++;
		record.tid = tid;
		record.cpu = static_cast<uint16_t>(slot);
		record.end_ns = end;
		return block.slots[slot].records.emplace_back(record);
	}
	icepath_record &ready(uint64_t at, uint32_t tid = kSender, unsigned slot = 0)
	{
		icepath_record &record = add(slot, ICEPATH_RECORD_DATA_READY, at, tid);
		record.socket.socket = kReceiverKey;
		return record;
	}
	icepath_record &device(uint64_t at, uint32_t bytes)
	{
		icepath_record &record = add(0, ICEPATH_RECORD_DEVICE_QUEUE, at, kSender);
		record.socket.socket = kSenderKey;
		record.socket.bytes = bytes;
		return record;
	}
	static void stream(icepath_record &record, uint32_t end)
	{
		record.socket.has_stream_end = 1;
		record.socket.stream_end = end;
	}
	icepath_record &slept(uint64_t out, uint64_t waking, uint64_t wakeup, uint64_t in, uint32_t waker = kSender)
	{
		icepath_record &record = add(1, ICEPATH_RECORD_OFF_CPU, in, kReceiver);
		record.off.out_ns = out;
		record.off.waking_ns = waking;
		record.off.wakeup_ns = wakeup;
		record.off.waker_tid = waker;
		record.off.out_cpu = kReceiverCpu;
		return record;
	}
	Observations decoded() const { return decode(block, cell); }
	std::string text(unsigned message = 0) const
	{
		Observations seen = decoded();
		return message < seen.deliveries.size() ? text_of(walk(seen, seen.deliveries[message])) : "no delivery";
	}

	rundir::Block block;
	rundir::Cell cell;
};

TEST(Decode, UnixSocket)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	icepath_record &off = capture.slept(850, 1160, 1200, 1250);
	off.off.ipi_after_ns = 20;
	off.off.idle_after_ns = 60;
	EXPECT_EQ(capture.text(),
			  "0:sender.user 100 | 0:sender.kernel 50 | 1:sender.kernel/notify 10' | 1:wakeup/ipi 20 | 1:wakeup 20 | "
			  "1:runqueue/idle_exit 20 | 1:runqueue 30 | 1:receiver.kernel 350 | 1:receiver.user 100");
}

TEST(Decode, TheLastPartInTheCallDecides)
{
	Capture capture(kUnixSocket);
	capture.ready(1120);
	capture.ready(1150);
	capture.ready(1170, kForeign); // another sender on that socket
	capture.ready(1250); // after the call
	EXPECT_EQ(capture.decoded().transfers.at(0).ready->at_ns, 1150u);
}

TEST(Decode, AnUnprobedBlockHasNoRecords)
{
	Capture capture(0);
	capture.block.slots.clear();
	EXPECT_TRUE(capture.decoded().lost.empty());
}

TEST(Decode, RecordsInAnyOrder)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i) {
		const uint64_t t = Capture::start(i);
		capture.ready(t + 150);
		capture.slept(t - 150, t + 160, t + 200, t + 250);
	}
	const std::string expected = capture.text(20);
	EXPECT_TRUE(expected.starts_with("0:sender.user 100")) << expected;
	std::mt19937 random(1);
	for (auto &slot : capture.block.slots)
		std::ranges::shuffle(slot.records, random);
	for (unsigned i = 0; i < 40; ++i)
		EXPECT_EQ(capture.text(i), expected);
}

// A window spans the four records on each side of the gap.
TEST(Decode, AGapBecomesAWindow)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i)
		capture.ready(Capture::start(i) + 150);
	capture.block.slots[0].records.erase(capture.block.slots[0].records.begin() + 20);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.lost.size(), 1u);
	EXPECT_EQ(seen.lost[0].begin_ns, Capture::start(16) + 150);
	EXPECT_EQ(seen.lost[0].end_ns, Capture::start(24) + 150);
	EXPECT_EQ(seen.lost[0].count, 1u);
	EXPECT_NE(capture.text(15), "lost_record");
	EXPECT_EQ(capture.text(16), "lost_record");
	EXPECT_EQ(capture.text(24), "lost_record");
	EXPECT_NE(capture.text(25), "lost_record");
}

TEST(Decode, AFullLogLosesTheRestOfTheBlock)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i)
		capture.ready(Capture::start(i) + 150);
	capture.block.slots[0].records.resize(30);
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.lost.size(), 1u);
	EXPECT_EQ(seen.lost[0].begin_ns, Capture::start(26) + 150);
	EXPECT_EQ(seen.lost[0].end_ns, UINT64_MAX);
	EXPECT_EQ(seen.lost[0].count, 10u);
}

TEST(Decode, WithoutEnoughNeighboursTheWindowIsOpen)
{
	Capture capture(kUnixSocket, 40);
	for (unsigned i = 0; i < 40; ++i)
		capture.ready(Capture::start(i) + 150);
	capture.block.slots[0].records.erase(capture.block.slots[0].records.begin() + 2);
	EXPECT_EQ(capture.decoded().lost.at(0).begin_ns, 0u);
	capture.block.slots[0].records.clear();
	EXPECT_EQ(capture.decoded().lost.at(0).begin_ns, 0u);
	EXPECT_EQ(capture.decoded().lost.at(0).end_ns, UINT64_MAX);
}

TEST(Decode, UnknownRecordsCountAsLost)
{
	for (auto spoil : std::initializer_list<void (*)(icepath_record &)>{
			 [](icepath_record &record) { record.type = 77; }, [](icepath_record &record) { record.type = 0; },
			 [](icepath_record &record) { record.version = 2; }, [](icepath_record &record) { record.bytes = 32; },
			 [](icepath_record &record) { record.tid = 4711; },
			 [](icepath_record &record) { record.off.out_ns = record.end_ns; }}) {
		Capture capture(kUnixSocket);
		capture.ready(1150);
		spoil(capture.slept(850, 1160, 1200, 1250));
		EXPECT_EQ(capture.text(), "lost_record");
	}
}

TEST(Decode, TwoRecordsOfOneNumberCountAsLost)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.block.slots[1].records.push_back(capture.block.slots[1].records.back());
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, PeriodsThatOverlapCountAsLost)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.slept(1240, 1260, 1270, 1280);
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, WhatTheKernelSkippedSpoilsTheBlock)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	capture.slept(850, 1160, 1200, 1250);
	capture.block.recursion_misses = 1;
	EXPECT_EQ(capture.text(), "lost_record");
}

TEST(Decode, UnseenSwitchesAreAWindow)
{
	Capture capture(kUnixSocket, 2);
	capture.ready(1150);
	capture.ready(2150);
	capture.add(1, ICEPATH_RECORD_UNSEEN, 2300, kReceiver).off.out_ns = 2100;
	EXPECT_NE(capture.text(0), "lost_record");
	EXPECT_EQ(capture.text(1), "lost_record");
}

TEST(Decode, AWorkerThatStampedWhileItWasOffWasSwitchedInUnseen)
{
	Capture capture(kUnixSocket, 2);
	capture.ready(1150);
	capture.ready(2150);
	capture.add(1, ICEPATH_RECORD_STILL_OFF, 9000, kReceiver).off.out_ns = 2100;
	EXPECT_NE(capture.text(1), "lost_record");
	capture.block.sides[1].marker_end_ns = 8000;
	EXPECT_NE(capture.text(0), "lost_record");
	EXPECT_EQ(capture.text(1), "lost_record");
}

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
	capture.block.sides[1].recvs[1].take_call_ns = 2500;
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
	capture.block.sides[1].recvs[0].take_return_ns = 2700;
	capture.block.sides[1].recvs[0].recv_ns = 2710;
	capture.block.sides[1].recvs[1] = {1, 2720, 0, 2720, 2750, 0, 2760, 1, 0};
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
	capture.block.sides[1].recvs.erase(capture.block.sides[1].recvs.begin() + 1);
	for (unsigned i = 0; i < 3; ++i) {
		capture.device(Capture::start(i) + 130, 100);
		if (i != 1)
			capture.ready(Capture::start(i) + 150);
	}
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.transfers.size(), 2u);
	EXPECT_EQ(seen.transfers[1].ready->at_ns, 3150u);
}

TEST(Decode, SlotStamps)
{
	Capture capture(ICEPATH_USES_USER_SLOT);
	capture.cell.wait = rundir::Wait::Poll;
	capture.block.sides[0].sends[0] = {0, 1000, 1000, 0, 1100, 0, 1, 0, 0};
	capture.block.sides[1].recvs[0] = {0, 500, 0, 0, 0, 1150, 1200, 9, 0};
	EXPECT_EQ(capture.text(), "0:sender.user 100 | 1:propagation 50 | 1:receiver.user 50");
}

TEST(Decode, ForeignRunsAreNamed)
{
	Capture capture(kUnixSocket);
	capture.ready(1150);
	icepath_record &run = capture.add(1, ICEPATH_RECORD_FOREIGN_RUN, 1250, kForeign);
	run.run.in_ns = 1210;
	std::memcpy(run.run.comm, "0123456789abcdef", 16); // not terminated
	capture.slept(850, 1160, 1200, 1250);
	EXPECT_EQ(capture.decoded().task_names.at(kForeign), "0123456789abcdef");
	EXPECT_NE(capture.text().find("1:runqueue 50 by 99"), std::string::npos) << capture.text();
}

TEST(Decode, OneReadOfTwoMessages)
{
	Capture capture(kUnixSocket, 2);
	auto &recvs = capture.block.sides[1].recvs;
	recvs[0] = {0, 500, 0, 501, 2600, 0, 2700, 1, 0};
	recvs[1] = {1, 2700, 0, 501, 2600, 0, 2800, 1, 0};
	capture.ready(1150);
	capture.ready(2150);
	capture.slept(850, 1160, 1200, 2250);
	const Observations seen = capture.decoded();
	EXPECT_FALSE(seen.transfers.at(0).follows_in_read);
	EXPECT_TRUE(seen.transfers.at(1).follows_in_read);
	EXPECT_EQ(seen.transfers.at(1).ask.at_ns, 500u);
	EXPECT_TRUE(capture.text(1).ends_with("1:receiver.kernel 350 | 1:receiver.user/backlog 200")) << capture.text(1);
}

TEST(Decode, LeadInAndDuplicatesGiveNoDelivery)
{
	Capture capture(kUnixSocket, 3);
	capture.block.sides[0].sends[0].flags = rundir::kStampLeadIn;
	capture.block.sides[1].recvs.push_back(capture.block.sides[1].recvs[2]);
	capture.block.sides[1].recvs.back().recv_ns += 5000;
	const Observations seen = capture.decoded();
	EXPECT_EQ(seen.transfers.size(), 3u);
	ASSERT_EQ(seen.deliveries.size(), 2u);
	EXPECT_EQ(seen.deliveries[1].recv.at_ns, 3700u);
}

TEST(Decode, PingPongHasBothDirections)
{
	Capture capture(kUnixSocket);
	capture.cell.pattern = rundir::Pattern::PingPong;
	capture.block.sides[1].sends.push_back({0, 1800, 1800, 1810, 0, 1830, 1, 0, 0});
	capture.block.sides[0].recvs.push_back({0, 1300, 0, 1300, 1900, 0, 1910, 1, 0});
	icepath_record &back = capture.add(1, ICEPATH_RECORD_DATA_READY, 1820, kReceiver);
	back.socket.socket = kSenderKey;
	const Observations seen = capture.decoded();
	ASSERT_EQ(seen.deliveries.size(), 2u);
	EXPECT_EQ(seen.deliveries[1].sender, kReceiver);
	EXPECT_EQ(capture.text(1), "0:sender.user 10 | 0:sender.kernel 10 | 1:receiver.kernel 80 | 1:receiver.user 10");
}

TEST(Decode, StampsThatCannotBeTrue)
{
	auto with = [](auto spoil) {
		Capture capture(kUnixSocket);
		capture.ready(1150);
		capture.slept(850, 1160, 1200, 1250);
		spoil(capture.block.sides[0].sends[0], capture.block.sides[1].recvs[0]);
		return capture.text();
	};
	EXPECT_EQ(with([](auto &send, auto &) { send.send_ns = UINT64_MAX; }), "inverted_time");
	EXPECT_EQ(with([](auto &send, auto &) { send.return_ns = 1; }), "inverted_time");
	EXPECT_EQ(with([](auto &send, auto &) { send.call_ns = 0; }), "no_evidence");
	EXPECT_EQ(with([](auto &, auto &recv) { recv.recv_ns = 1; }), "inverted_time");
	EXPECT_EQ(with([](auto &, auto &recv) { recv.take_return_ns = 0; }), "no_evidence");
	EXPECT_EQ(with([](auto &, auto &recv) { recv.take_call_ns = UINT64_MAX; }), "inverted_time");
	EXPECT_EQ(with([](auto &, auto &recv) { recv.seq = UINT64_MAX; }), "no delivery");
}

// Nothing that workers or a damaged file can hold breaks the decoder or the walk; what is complete still tiles.
TEST(Decode, RandomBytes)
{
	std::mt19937_64 random(7);
	auto below = [&](uint64_t most) { return random() % most; };
	auto time = [&]() -> uint64_t {
		switch (below(6)) {
		case 0:
			return random();
		case 1:
			return 0;
		default:
			return below(3000);
		}
	};
	uint64_t complete = 0;
	for (int round = 0; round < 3000; ++round) {
		constexpr uint32_t kMechanisms[] = {kUnixSocket, kTcp, kUdp, 0, ICEPATH_USES_USER_SLOT, 0xffffffff};
		Capture capture(kMechanisms[below(6)], static_cast<unsigned>(below(8)));
		capture.cell.pattern = static_cast<rundir::Pattern>(below(2));
		capture.cell.wait = static_cast<rundir::Wait>(below(3));
		capture.cell.payload_bytes = below(3) ? 100 : random();
		if (below(8) == 0)
			capture.block.sides[1].tid = kSender;
		const bool sound_log = below(2);
		for (auto &side : capture.block.sides) {
			for (auto &send : side.sends)
				if (below(3) == 0)
					send = {below(10) ? below(9) : random(), time(), time(), time(), time(), time(), 1, 0, 0};
			for (auto &recv : side.recvs)
				if (below(3) == 0)
					recv = {below(10) ? below(9) : random(), time(), time(), time(), time(), time(), time(), 1, 0};
		}
		for (auto &slot : capture.block.slots) {
			slot.position = static_cast<uint32_t>(below(4) ? below(20) : random());
			if (sound_log) {
				slot.position = 0;
				continue;
			}
			for (uint64_t count = below(24); count-- > 0;) {
				icepath_record record{};
				record.type = static_cast<uint8_t>(below(10));
				record.version = below(20) ? ICEPATH_RECORD_VERSION : 9;
				record.bytes = sizeof(record);
				record.context = static_cast<uint8_t>(below(4));
				record.seq = static_cast<uint32_t>(below(10) ? below(20) : random());
				record.tid = below(2) ? kSender : below(2) ? kReceiver : static_cast<uint32_t>(below(100));
				record.cpu = static_cast<uint16_t>(below(10) ? below(3) : random());
				record.end_ns = time();
				for (auto &word : record.words)
					word = below(3) ? time() : below(2) ? kSenderKey : random();
				slot.records.push_back(record);
			}
			if (below(2)) {
				for (uint32_t i = 0; i < slot.records.size(); ++i)
					slot.records[i].seq = i;
				slot.position = static_cast<uint32_t>(slot.records.size());
			}
		}
		const Observations seen = capture.decoded();
		for (const Delivery &delivery : seen.deliveries) {
			const Path path = walk(seen, delivery);
			if (!path.complete()) {
				EXPECT_TRUE(path.segments.empty());
				continue;
			}
			++complete;
			uint64_t sum = 0;
			for (const Segment &segment : path.segments)
				sum += segment.duration_ns();
			EXPECT_EQ(sum, delivery.recv.at_ns - delivery.send.at_ns);
		}
	}
	EXPECT_GT(complete, 100u);
}

// As large as a worker's memory can be, and as bad: time stays far below quadratic.
TEST(Decode, ManyHostileStamps)
{
	Capture capture(kUnixSocket, 20000);
	for (auto &send : capture.block.sides[0].sends) {
		send.call_ns = 1;
		send.return_ns = UINT64_MAX;
	}
	for (auto &recv : capture.block.sides[1].recvs)
		recv.take_return_ns = 600;
	for (unsigned i = 0; i < 20000; ++i)
		capture.ready(Capture::start(i), kForeign);
	EXPECT_EQ(capture.decoded().deliveries.size(), 20000u);
}

} // namespace
} // namespace icepath::path
