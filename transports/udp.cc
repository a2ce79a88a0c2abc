// SPDX-License-Identifier: Apache-2.0
// UDP over loopback between two connected sockets: the kernel drops what comes from elsewhere, and what finds the
// receive buffer full.
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>

#include "transports/kernel_limit.h"
#include "transports/loopback_address.h"
#include "transports/plugin_table.h"
#include "transports/socket_channel.h"

using namespace icepath::transports;

namespace {

// 65535 bytes of an IPv4 packet less the headers of IP and UDP.
constexpr uint64_t kLargestDatagram = 65507;
// A receive buffer that is full when a part comes loses the message: as many as the buffer can be made to hold. Each costs
// twice its size (the kernel's allocation is the next power of two), and so does the limit (SO_RCVBUF is doubled).
uint64_t parts_that_fit() { return std::max<uint64_t>(1, kernel_limit("/proc/sys/net/core/rmem_max", 212992) / 65536); }

const icepath_target *target(uint32_t n)
{
	static char why[160];
	static const icepath_target udp = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "udp";
		it.summary = "UDP over loopback: messages, lost where the receiver is too slow";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms =
			ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV; // a linear skb is copied without skb_copy_datagram_iovec
		it.capabilities = ICEPATH_CAN_PINGPONG | ICEPATH_IS_LOSSY;
		const uint64_t parts = parts_that_fit();
		it.max_part_bytes = parts == 1 ? 0 : kLargestDatagram - sizeof(PartHead);
		it.max_payload_bytes = parts == 1 ? kLargestDatagram : parts * it.max_part_bytes;
		std::snprintf(why, sizeof(why), "/proc/sys/net/core/rmem_max lets the receive buffer hold %llu datagram%s",
					  static_cast<unsigned long long>(parts), parts == 1 ? "" : "s");
		it.max_payload_why = why;
		it.why_not = loopback_missing();
		return it;
	}();
	return n == 0 ? &udp : nullptr;
}

int set_up(icepath_endpoint &end)
{
	end.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.socket < 0)
		return end.failed("socket");
	end.heads = true;
	// The default buffer is kept where the message fits.
	const int room = static_cast<int>(kernel_limit("/proc/sys/net/core/rmem_max", 212992));
	if (end.in_parts() && setsockopt(end.socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)))
		return end.failed("setsockopt(SO_RCVBUF)");
	return bind_to_loopback(end.socket, end.given) ? ICEPATH_OK : end.failed("bind to 127.0.0.1");
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	sockaddr_in other{};
	if (!read_address(*peer, other))
		return end->sentence.tell(ICEPATH_FAILED, "udp: the peer's address is not one of 127.0.0.1");
	if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other)))
		return end->failed("connect to 127.0.0.1");
	// What a stranger sent before the socket was connected is in its queue already.
	char stray = 0;
	while (recv(end->socket, &stray, sizeof(stray), MSG_DONTWAIT) >= 0)
		;
	return watch_socket(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = socket_table("udp", target, open_end, connect_end);
	return &plugin;
}
