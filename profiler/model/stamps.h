// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a worker stamps for each message, in memory shared with icepath; the run directory stores it unchanged. All
// times are CLOCK_MONOTONIC nanoseconds; 0: did not happen. The stamps are copied from icepath_send and icepath_recv
// of include/icepath/plugin.h, which define them.
#include <cstddef>
#include <cstdint>

namespace icepath::model {

// Before the counted messages: threads settle, and probes see a first sleep.
inline constexpr uint32_t kStampWarmUp = 1u << 0;
inline constexpr uint32_t kStampCopied = 1u << 2; // zero-copy was asked for, the kernel copied (SendStamp only)
inline constexpr uint32_t kStampBadPayload = 1u << 1; // received bytes differ from those sent (RecvStamp only)
// The upper bits: tid of the library's thread that made the stamp (Wait::Callback); 0: the side's own thread did.
inline constexpr unsigned kStampThreadShift = 10; // a tid has 22 bits: PID_MAX_LIMIT
constexpr uint32_t by_thread(uint32_t tid) { return tid << kStampThreadShift; }

struct SendStamp {
	uint64_t seq; // from 0 for each direction of each block, warm-up included
	uint64_t intended_ns; // when an open-loop schedule wants it sent; pingpong: equal to send_ns
	uint64_t send_ns; // the application hands the message over
	uint64_t call_ns;
	uint64_t publish_ns;
	uint64_t return_ns;
	uint32_t attempts;
	uint32_t flags; // kStamp*
	uint64_t reserved;
};

struct RecvStamp {
	uint64_t seq; // as read from the payload, which reveals loss and reordering
	uint64_t ask_ns;
	uint64_t wait_return_ns;
	uint64_t take_call_ns;
	uint64_t take_return_ns;
	uint64_t observe_ns;
	uint64_t recv_ns; // the application has the message in hand
	uint32_t attempts;
	uint32_t flags; // kStamp*
};

static_assert(sizeof(SendStamp) == 64 && sizeof(RecvStamp) == 64, "one cache line each");

// The thread that made a stamp. `own`: the side's.
template <class Stamp> constexpr uint32_t thread_of(const Stamp &stamp, uint32_t own)
{
	const uint32_t tid = stamp.flags >> kStampThreadShift;
	return tid != 0 ? tid : own;
}

// A message's place in its block, and its encoding as one number.
struct MessagePlace {
	size_t flow = 0; // index into Graph::flows
	uint64_t seq = 0; // below kMostSeq
};

inline constexpr unsigned kSeqBits = 48;
inline constexpr uint64_t kMostSeq = 1ull << kSeqBits;

constexpr uint64_t message_at(const MessagePlace &place) { return (uint64_t{place.flow} << kSeqBits) | place.seq; }
constexpr MessagePlace place_of(uint64_t message) { return {message >> kSeqBits, message & (kMostSeq - 1)}; }

} // namespace icepath::model
