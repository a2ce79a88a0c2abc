// SPDX-License-Identifier: Apache-2.0
#pragma once
// A block with hand-made records and stamps, and its observations and paths.
#include <string>

#include "ebpf/records.h"
#include "profiler/decode/decode.h"
#include "tests/model/own_window.h"
#include "tests/path/scene.h"

namespace icepath::decode {

using namespace path; // scenes, and everything that paths consist of

inline constexpr uint64_t kSenderKey = 7, kReceiverKey = 8;
using model::Mechanism;
inline constexpr model::Mechanisms kUnixSocket = {Mechanism::Socket, Mechanism::SkbCopy};
inline constexpr model::Mechanisms kTcp = {Mechanism::Socket, Mechanism::SkbCopy, Mechanism::NetworkDevice,
										   Mechanism::ByteStream};
inline constexpr model::Mechanisms kUdp = {Mechanism::Socket, Mechanism::NetworkDevice};

// One-way messages of 100 bytes. Message i has [1000 * (i + 1), 1000 * (i + 2)): send at 0, call [100, 200), receiver's
// wait since -200, taken by 600, recv at 700.
struct Capture {
	explicit Capture(model::Mechanisms mechanisms, unsigned messages = 1)
	{
		cell.pattern = model::Pattern::OneWay;
		cell.mechanisms = mechanisms;
		cell.payload_bytes = 100;
		cell.graph = model::star(1, {0, kReceiverCpu}, model::Between::Processes, false);
		window().probed = true;
		window().begin.monotonic_ns = 10;
		window().finish.monotonic_ns = 1'000'000;
		window().threads = {{kSender, 0, "a sender"}, {kReceiver, kReceiverCpu, "a receiver"}};
		block.sides.resize(2);
		block.sides[0].tid = kSender;
		block.sides[1].tid = kReceiver;
		block.flows = {{kSenderKey, kReceiverKey, {}, {}}};
		window().slots.resize(3);
		for (int slot = 0; slot < 3; ++slot)
			window().slots[slot].cpu = slot == 2 ? -1 : slot;
		for (unsigned i = 0; i < messages; ++i) {
			const uint64_t t = start(i);
			block.flows[0].sends.push_back({i, t, t, t + 100, 0, t + 200, 1, 0, 0});
			block.flows[0].recvs.push_back({i, t - 200, 0, t - 199, t + 600, 0, t + 700, 1, 0});
		}
	}
	static uint64_t start(unsigned i) { return 1000ull * (i + 1); }

	icepath_record &add(unsigned slot, icepath_record_type type, uint64_t end, uint32_t tid)
	{
		icepath_record record{};
		record.type = type;
		record.version = ICEPATH_RECORD_VERSION;
		record.bytes = sizeof(record);
		record.seq = window().slots[slot].position++;
		record.tid = tid;
		record.cpu = static_cast<uint16_t>(slot);
		record.end_ns = end;
		return window().slots[slot].records.emplace_back(record);
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
	model::Window &window() { return model::own_window(block); }
	Observations decoded() const { return observations_of(block, cell); }
	std::string text(unsigned message = 0) const
	{
		Observations seen = decoded();
		return message < seen.deliveries.size() ? text_of(walk(seen, seen.deliveries[message])) : "no delivery";
	}

	model::Block block;
	model::Cell cell;
};

} // namespace icepath::decode
