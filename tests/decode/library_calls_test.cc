// SPDX-License-Identifier: Apache-2.0
// What a library's calls show apart from messages: locks, and the other ends of sockets.
#include "tests/decode/relayed.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <tuple>

namespace icepath::decode {
namespace {

// It waits for the receiver, which could also have made room. Its own later wake at the same word identifies a lock,
// even if the library has no threads of its own.
TEST(Decode, ALockIsToldInAnyLibrarysCall)
{
	const auto text = [](uint64_t woken_word) {
		Capture capture({Mechanism::LibraryCalls});
		for (const auto &[kind, begin, end, word] :
			 std::initializer_list<std::tuple<icepath_call_kind, uint64_t, uint64_t, uint64_t>>{
				 {ICEPATH_CALL_FUTEX_LOCK, 1110, 1170, 0x99}, {ICEPATH_CALL_FUTEX_WAKE, 1175, 1180, woken_word}}) {
			icepath_record &call = capture.add(0, ICEPATH_RECORD_CALL, end, kSender);
			call.call.begin_ns = begin;
			call.call.kind = kind;
			call.call.object = word;
		}
		icepath_record &off = capture.add(0, ICEPATH_RECORD_OFF_CPU, 1160, kSender);
		off.off.out_ns = 1120;
		off.off.waking_ns = 1140;
		off.off.wakeup_ns = 1150;
		off.off.waker_tid = kReceiver;
		return capture.text();
	};
	EXPECT_NE(text(0x99).find("blocked/lock"), std::string::npos) << text(0x99);
	EXPECT_EQ(text(0x98).find("blocked/lock"), std::string::npos) << text(0x98);
}

// What a UNIX socket's calls give is announced at its other end: only a thread that takes there makes room.
TEST(Decode, TheOtherEndOfASocketIsKnownByWhatWasAnnouncedThere)
{
	Capture capture({Mechanism::LibraryCalls});
	icepath_record &call = capture.add(0, ICEPATH_RECORD_CALL, 1180, kSender);
	call.call.begin_ns = 1110;
	call.call.kind = ICEPATH_CALL_GIVE;
	call.call.object = kSenderKey;
	capture.ready(1150);
	capture.ready(1190).socket.socket = kReceiverKey + 1; // not in that call
	icepath_record &packet = capture.ready(1160);
	packet.context = ICEPATH_CONTEXT_SOFTIRQ;
	packet.socket.socket = kReceiverKey + 2;
	const std::map<uint64_t, std::set<uint64_t>> reached = capture.decoded().reached;
	EXPECT_EQ(reached, (std::map<uint64_t, std::set<uint64_t>>{{kSenderKey, {kReceiverKey}}}));
}

} // namespace
} // namespace icepath::decode
