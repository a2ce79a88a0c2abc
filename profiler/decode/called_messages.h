// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages of programs that stamp nothing. A message is what one call gives to a stream: it is sent as that call begins
// and received as the call that takes its last byte returns.
//
// Where the bytes of a call are in their stream (positions.h) says which call took them. If two threads give at the
// same time, neither a position that the kernel's side read nor the order of the records says whose bytes came first.
// Until both calls are over, the messages of both are *contended*; the bytes after them aren't. The same holds for
// threads that take at the same time, and where records are lost so that they may have. Of a pipe even the order of
// calls that don't overlap is known only by their ends: once a second thread has given to it, or taken from it, its
// messages are contended. Contended and unmatched messages have no receiver here.
//
// A lost record of a giving call leaves bytes without a giver, one of a taking call bytes without a taker. Both show as
// a gap between positions, so other messages stay right.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/decode/log.h"
#include "profiler/decode/positions.h"

namespace icepath::decode {

// How well it is known who took a message.
enum class Identity : uint8_t {
	Exact, // the position that the capture read at the socket
	Counted, // the bytes counted here
	Contended, // calls overlapped, or several threads use a pipe
	Unmatched, // what took it isn't known, and later bytes have been taken; or two positions contradict each other
};
inline constexpr std::array<std::string_view, 4> kIdentityNames = {"exact", "counted", "contended", "unmatched"};
constexpr bool has_receiver(Identity identity) { return identity <= Identity::Counted; }

// How long after a call another one that overlapped it may return and still be considered.
inline constexpr uint64_t kLongestOverlapNs = 2'000'000'000;

struct CalledMessage {
	uint64_t given_to = 0, out_of = 0; // objects
	model::StreamKind stream = model::StreamKind::UnixStream;
	CallKey give, take; // `take`: of the last byte
	uint64_t bytes = 0;
	Identity identity = Identity::Unmatched;
	uint64_t send_ns = 0, recv_ns = 0; // recv_ns: 0 without a receiver
	uint64_t taken_ns = 0; // by then all of it had been taken; 0: not known
	// No record of what ended later can change it.
	uint64_t decided_ns = 0;
	path::Transfer transfer; // with a receiver; its `message` isn't set
};

// A message that nobody has taken yet.
struct OpenMessage {
	CallKey give;
	uint64_t given_to = 0;
	uint64_t send_ns = 0, given_ns = 0;
};

// A call that took bytes of a giver that isn't known.
struct UngivenTake {
	uint64_t out_of = 0;
	uint64_t taken_ns = 0;
	uint32_t taker = 0; // tid
};

struct CalledMessages {
	std::vector<CalledMessage> all; // by send_ns
	std::vector<OpenMessage> open;
	std::vector<UngivenTake> ungiven;
};

CalledMessages called_messages(const SocketEvents &events, const Observations &seen, const Peers &peers,
							   const Positions &positions);

} // namespace icepath::decode
