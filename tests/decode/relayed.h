// SPDX-License-Identifier: Apache-2.0
#pragma once
// A hand-made block of a cell whose messages pass a library's threads and a daemon.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/decode/capture_by_hand.h"

namespace icepath::decode {

inline constexpr uint32_t kClient = 50, kBroker = 60,
						  kServer = 70; // threads of the sender's process, of a daemon, of the receiver's
inline constexpr uint32_t kOther = 61; // another thread of the daemon

class Relayed : public testing::Test {
protected:
	Relayed() : capture({Mechanism::LibraryCalls, Mechanism::LibraryThreads})
	{
		thread(kSender, kSender);
		thread(kClient, kSender);
		thread(kBroker, kBroker);
		thread(kOther, kBroker);
		thread(kServer, kReceiver);
		thread(kReceiver, kReceiver);
	}

	void thread(uint32_t tid, uint32_t process)
	{
		capture.add(2, ICEPATH_RECORD_THREAD, 20, tid).thread.tgid = process;
	}
	// Sender, receiver and their library's threads belong to one process.
	void between_threads()
	{
		for (const uint32_t tid : {kServer, kReceiver})
			thread(tid, kSender);
	}

	icepath_record &call(uint32_t tid, icepath_call_kind kind, uint64_t begin, uint64_t end, uint64_t object = 0,
						 uint64_t bytes = 100)
	{
		icepath_record &record = capture.add(2, ICEPATH_RECORD_CALL, end, tid);
		record.call.begin_ns = begin;
		record.call.kind = kind;
		record.call.object = object;
		record.call.result = bytes;
		return record;
	}
	icepath_record &slept(uint32_t tid, uint64_t out, uint64_t waking, uint64_t in, uint32_t waker)
	{
		icepath_record &record = capture.add(2, ICEPATH_RECORD_OFF_CPU, in, tid);
		record.off.out_ns = out;
		record.off.waking_ns = waking;
		record.off.wakeup_ns = waking + 10;
		record.off.waker_tid = waker;
		record.off.out_cpu = record.cpu;
		return record;
	}
	icepath_record &event(icepath_record_type type, uint64_t at, uint32_t tid, uint64_t socket, uint32_t stream_end = 0)
	{
		icepath_record &record = capture.add(2, type, at, tid);
		record.socket.socket = socket;
		record.socket.has_stream_end = stream_end != 0;
		record.socket.stream_end = stream_end;
		return record;
	}
	// The sender's last hand-over, by a futex, and the end of the receiver's sleep.
	void woken_by_futex(uint32_t waker, uint32_t woken, uint64_t at)
	{
		call(waker, ICEPATH_CALL_FUTEX_WAKE, at - 20, at + 30);
		call(woken, ICEPATH_CALL_FUTEX_WAIT, 820, at + 90);
		slept(woken, 830, at, at + 60, waker);
	}

	// Those that have the only message, one after another.
	std::vector<uint32_t> threads() const
	{
		const Observations seen = capture.decoded();
		std::vector<uint32_t> all;
		for (const Segment &segment : walk(seen, seen.deliveries.at(0)).segments)
			if (all.empty() || all.back() != segment.thread)
				all.push_back(segment.thread);
		return all;
	}

	bool mentions_in_order(const std::vector<std::string> &pieces) const
	{
		const std::string text = capture.text();
		size_t at = 0;
		return std::ranges::all_of(pieces, [&](const std::string &piece) {
			at = text.find(piece, at);
			return at != std::string::npos;
		});
	}

	Capture capture;
	const std::vector<uint32_t> by_broker{kSender, kBroker, kReceiver};
};

} // namespace icepath::decode
