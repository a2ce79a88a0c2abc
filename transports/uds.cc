// SPDX-License-Identifier: Apache-2.0
// UNIX domain sockets: one socket pair, made by side 0, whose other half goes to side 1. No name, so nobody else can
// join.
#include <sys/socket.h>

#include <algorithm>

#include "transports/kernel_limit.h"
#include "transports/plugin_table.h"
#include "transports/socket_channel.h"

using namespace icepath::transports;

namespace {

// unix_dgram_sendmsg refuses messages longer than sk_sndbuf - 32.
constexpr uint64_t kSendBufferReserve = 32;
// Above, the kernel wants one contiguous allocation per message (sock_alloc_send_pskb) that fails when memory is
// fragmented.
constexpr uint64_t kLargestDatagram = kMiB;
constexpr uint64_t kLargestOnStream = 1024 * kMiB;
constexpr uint64_t kLargestInParts = 64 * kMiB;

constexpr uint32_t kKinds = 3;

struct Kind {
	icepath_target target;
	int type;
};

Kind *kinds()
{
	static Kind all[kKinds];
	static const bool ready = [] {
		// SO_SNDBUF is doubled by the kernel (sock_setsockopt).
		const uint64_t wmem_max = kernel_limit("/proc/sys/net/core/wmem_max", 212992);
		icepath_target target{};
		target.size = sizeof(target);
		target.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		target.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY;
		target.capabilities = ICEPATH_CAN_PINGPONG;
		target.max_payload_bytes = kLargestInParts;
		target.max_payload_why = "icepath's own limit: what one datagram can't carry goes in parts";
		target.max_part_bytes = std::min(2 * wmem_max - kSendBufferReserve, kLargestDatagram);
		target.name = "uds-seqpacket";
		target.summary = "UNIX domain socket, SOCK_SEQPACKET: connected, keeps message boundaries";
		all[1] = {target, SOCK_SEQPACKET};
		target.name = "uds-dgram";
		target.summary = "UNIX domain socket, SOCK_DGRAM: messages, reliable and in order";
		all[2] = {target, SOCK_DGRAM};
		target.name = "uds-stream";
		target.summary = "UNIX domain socket, SOCK_STREAM: a byte stream, framed by the known size";
		target.mechanisms |= ICEPATH_USES_BYTE_STREAM;
		target.max_payload_bytes = kLargestOnStream;
		target.max_payload_why = "icepath's own limit: a byte stream has none";
		target.max_part_bytes = 0;
		all[0] = {target, SOCK_STREAM};
		return true;
	}();
	(void)ready;
	return all;
}

const icepath_target *target(uint32_t n) { return n < kKinds ? &kinds()[n].target : nullptr; }

// The default buffer is kept where the message fits: its size is what a sender's backpressure depends on.
int make_room(icepath_endpoint *end)
{
	if (end->stream)
		return ICEPATH_OK;
	int bytes = 0;
	socklen_t size = sizeof(bytes);
	if (getsockopt(end->socket, SOL_SOCKET, SO_SNDBUF, &bytes, &size))
		return end->failed("getsockopt(SO_SNDBUF)");
	const uint64_t needed = end->part_bytes + kSendBufferReserve;
	if (static_cast<uint64_t>(bytes) >= needed)
		return ICEPATH_OK;
	bytes = static_cast<int>(needed / 2 + 1);
	if (setsockopt(end->socket, SOL_SOCKET, SO_SNDBUF, &bytes, size))
		return end->failed("setsockopt(SO_SNDBUF)");
	return ICEPATH_OK;
}

int set_up(icepath_endpoint &end, int type)
{
	end.stream = type == SOCK_STREAM;
	if (end.side == 1)
		return ICEPATH_OK;
	int pair[2];
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair))
		return end.failed("socketpair");
	end.socket = pair[0];
	end.give(pair[1]);
	return make_room(&end);
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	for (const Kind *kind = kinds(); kind < kinds() + kKinds; kind++)
		if (std::strcmp(kind->target.name, how->target) == 0)
			return open_endpoint(how, kind->target, endpoint, address,
								 [=](icepath_endpoint &end) { return set_up(end, kind->type); });
	*endpoint = nullptr;
	return open_error().tell(ICEPATH_UNSUPPORTED, "icepath-uds.so has no target %.31s", how->target);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		end->socket = peer->fds[0];
		if (const int status = make_room(end); status != ICEPATH_OK)
			return status;
	}
	return watch_socket(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = socket_table("uds", target, open_end, connect_end);
	return &plugin;
}
