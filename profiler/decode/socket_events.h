// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matches socket events with messages: when each reached a device queue, was ready, and was taken.
#include <span>

#include "profiler/decode/log.h"

namespace icepath::decode {

// A message of one direction with its stamps, before its events are known.
struct FlowMessage {
	uint64_t seq = 0;
	const model::SendStamp *sent = nullptr;     // never nullptr
	const model::RecvStamp *received = nullptr; // nullptr: lost, or not asked for
	Transfer transfer;
};

struct FlowMessages {
	uint32_t sender = 0, receiver = 0; // tids
	uint64_t sender_key = 0, receiver_key = 0;
	uint64_t payload_bytes = 0;
	uint32_t parts = 1; // datagrams per message
	uint64_t begin_ns = 0; // of the block
	std::vector<FlowMessage> messages; // by seq
};

// UNIX sockets: queueing and sk_data_ready run in the sending call, on top of the sender.
void match_local(const SocketEvents &events, const Observations &seen, FlowMessages &flow);

// AF_VSOCK, a terminal: a kernel thread announces it, if there is a socket, or wakes the receiver, at any time until it
// is taken. With several messages in flight, the announced one isn't known.
void match_carried(const SocketEvents &events, const Observations &seen, FlowMessages &flow);

// Pipes and message queues: only the sending call shows which message enters the queue, and whose call it is.
void match_queue(const SocketEvents &events, FlowMessages &flow);

// TCP: the sequence number after the message's last byte identifies it, in the device queue and at the receiver.
void match_stream(const SocketEvents &events, const Observations &seen, FlowMessages &flow);

// UDP: pairs the datagrams that the sending calls queued with the announcements that follow on the receiver's socket.
// The order is kept, so with several in flight each takes the first announcement left. A message is ready with its last
// datagram.
void match_datagrams(const SocketEvents &events, const Observations &seen, FlowMessages &flow);

// The same for several senders with one datagram per message to one socket. Over loopback a CPU's datagrams pass its
// own backlog (enqueue_to_backlog()) and are announced there in the order of queueing; between CPUs there is no order.
// An announcement without an earlier datagram of its CPU shows that packets move between CPUs (RPS), and then none is
// matched.
void match_gathered_datagrams(const SocketEvents &events, const Observations &seen, std::span<FlowMessages> flows);

// The last copy by the receiver inside the taking call.
void match_taken(const SocketEvents &events, FlowMessages &flow);

} // namespace icepath::decode
