// SPDX-License-Identifier: Apache-2.0
// Input from a hostile worker or a damaged file.
#include "profiler/model/graph.h"
#include "tests/decode/capture_by_hand.h"

#include <gtest/gtest.h>
#include <random>

namespace icepath::decode {
namespace {

model::Mechanisms all_mechanisms()
{
	model::Mechanisms all;
	for (size_t i = 0; i < std::size(model::kMechanismNames); ++i)
		all.add(static_cast<Mechanism>(i));
	return all;
}

TEST(Decode, StampsThatCannotBeTrue)
{
	auto with = [](auto spoil) {
		Capture capture(kUnixSocket);
		capture.ready(1150);
		capture.slept(850, 1160, 1200, 1250);
		spoil(capture.block.flows[0].sends[0], capture.block.flows[0].recvs[0]);
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

// No such input breaks the decoder or the walk, and complete paths still tile.
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
		static const model::Mechanisms kMechanisms[] = {kUnixSocket,     kTcp, kUdp, {}, {Mechanism::UserSlot},
														all_mechanisms()};
		Capture capture(kMechanisms[below(6)], static_cast<unsigned>(below(8)));
		capture.cell.pattern = static_cast<model::Pattern>(below(2));
		capture.cell.graph =
			model::star(1, {0, kReceiverCpu}, model::Between::Processes, is_answered(capture.cell.pattern));
		capture.cell.wait = static_cast<model::Wait>(below(3));
		capture.cell.payload_bytes = below(3) ? 100 : random();
		if (below(4) == 0) { // two senders into one socket
			capture.cell.pattern = model::Pattern::FanIn;
			capture.cell.graph = model::star(2, {0, 0, kReceiverCpu}, model::Between::Processes, false);
			capture.block.sides.insert(capture.block.sides.begin(), capture.block.sides[0]);
			capture.block.flows.push_back(capture.block.flows[0]);
		}
		if (below(8) == 0)
			capture.block.sides[1].tid = kSender;
		const bool sound_log = below(2);
		capture.block.flows.resize(capture.cell.graph.flows.size());
		for (auto &flow : capture.block.flows) {
			for (auto &send : flow.sends)
				if (below(3) == 0)
					send = {below(10) ? below(9) : random(), time(), time(), time(), time(), time(), 1, 0, 0};
			for (auto &recv : flow.recvs)
				if (below(3) == 0)
					recv = {below(10) ? below(9) : random(), time(), time(), time(), time(), time(), time(), 1, 0};
		}
		for (auto &slot : capture.window().slots) {
			slot.position = static_cast<uint32_t>(below(4) ? below(20) : random());
			if (sound_log) {
				slot.position = 0;
				continue;
			}
			for (uint64_t count = below(24); count-- > 0;) {
				icepath_record record{};
				record.type = static_cast<uint8_t>(below(15));
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

// As large as a worker's memory can be, and all bad: time stays far below quadratic.
TEST(Decode, ManyHostileStamps)
{
	Capture capture(kUnixSocket, 20000);
	for (auto &send : capture.block.flows[0].sends) {
		send.call_ns = 1;
		send.return_ns = UINT64_MAX;
	}
	for (auto &recv : capture.block.flows[0].recvs)
		recv.take_return_ns = 600;
	for (unsigned i = 0; i < 20000; ++i)
		capture.ready(Capture::start(i), kForeign);
	EXPECT_EQ(capture.decoded().deliveries.size(), 20000u);
}

} // namespace
} // namespace icepath::decode
