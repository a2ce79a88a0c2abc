// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sending with MSG_ZEROCOPY (Documentation/networking/msg_zerocopy.rst): the kernel refers to the sender's pages. The
// socket's error queue reports when it is done with them, and whether it copied after all, as it always does for a
// receiver on the same machine (skb_orphan_frags_rx).
//
// The caller may write to its buffer once send() returns, so the message is copied into a buffer of the sender's,
// reused only after the completion of every call that referred to it. A program would build the message there; that
// copy precedes the first stamp. Completions are reaped after the last stamp.
#include <sys/socket.h>

#include <memory>

#include "icepath/plugin.h"
#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/socket_channel.h"

namespace icepath::plugin_kit {

struct ChannelEnd;

class ZerocopySender {
public:
	ZerocopySender();
	~ZerocopySender();

	// NULL, or why this kernel can't.
	static const char *missing();

	// Once `socket` is connected; it stays the caller's. Returns an icepath_status.
	int set_up(ChannelEnd &end, int socket);
	int send(ChannelEnd &end, icepath_send &message, int flags);
	// Takes pending completions. Also needed when one wakes a readiness wait (EPOLLERR).
	void reap();

private:
	struct Pool;
	std::unique_ptr<Pool> pool_;
};

// The MSG_ZEROCOPY variant of a socket transport.
//
// A copy of `plain` with what differs. `largest`: in bytes.
inline icepath_target zerocopy_target(icepath_target plain, const char *name, const char *summary, uint64_t largest,
									  const char *largest_why)
{
	plain.capabilities &= ~ICEPATH_CAN_FANIN;
	plain.fanin_waits = 0;
	plain.fanin_max_bytes = 0;
	plain.name = name;
	plain.summary = summary;
	plain.max_payload_bytes = largest;
	plain.max_payload_why = largest_why;
	plain.max_part_bytes = 0;
	if (!plain.why_not)
		plain.why_not = ZerocopySender::missing();
	return plain;
}

inline int send_zerocopy(icepath_endpoint *end, icepath_send *message)
{
	const int flags = MSG_NOSIGNAL | (end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
	return end->zerocopy->send(*end, *message, flags);
}

inline int recv_beside_zerocopy(icepath_endpoint *end, icepath_recv *message)
{
	const int flags = (end->wait == ICEPATH_WAIT_BLOCK ? 0 : MSG_DONTWAIT) | (end->stream ? 0 : MSG_TRUNC);
	const auto call = [=](void *data, size_t bytes) {
		const ssize_t moved = recv(end->socket, data, bytes, flags);
		// A completion means EPOLLERR until it is taken, which would keep the wait from sleeping.
		if (moved < 0 && errno == EAGAIN && end->wait == ICEPATH_WAIT_EPOLL) {
			end->zerocopy->reap();
			errno = EAGAIN;
		}
		return moved;
	};
	return end->stream ? recv_by_calls<Boundary::Stream>(*end, *message, "recv", end->epoll, call)
					   : recv_by_calls<Boundary::Message>(*end, *message, "recv", end->epoll, call);
}

// The table of a transport in which some endpoints have a `zerocopy`.
inline icepath_plugin with_zerocopy(const icepath_plugin &socket_table)
{
	static const icepath_plugin plain = socket_table;
	icepath_plugin table = plain;
	table.send = [](icepath_endpoint *end, icepath_send *message) {
		return end->zerocopy ? send_zerocopy(end, message) : plain.send(end, message);
	};
	table.recv = [](icepath_endpoint *end, icepath_recv *message) {
		return end->zerocopy ? recv_beside_zerocopy(end, message) : plain.recv(end, message);
	};
	return table;
}

// The last step of connect().
inline int watch_socket_and_completions(icepath_endpoint *end)
{
	if (const int status = watch_socket(end); status != ICEPATH_OK)
		return status;
	return end->zerocopy ? end->zerocopy->set_up(*end, end->socket) : ICEPATH_OK;
}

} // namespace icepath::plugin_kit
