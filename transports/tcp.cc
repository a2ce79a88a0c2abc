// SPDX-License-Identifier: Apache-2.0
// TCP over loopback. Side 0 listens on a port that the kernel chooses and accepts nobody but the socket that side 1 has
// bound before, so that no other process can slip in.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "transports/kernel_limit.h"
#include "transports/loopback_address.h"
#include "transports/plugin_table.h"
#include "transports/socket_channel.h"

using namespace icepath::transports;

namespace {

constexpr uint64_t kLargest = 1024 * kMiB;
constexpr int kAcceptMs = 5000;
constexpr int kBacklog = 8;

const icepath_target *target(uint32_t n)
{
	static const icepath_target tcp = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "tcp";
		it.summary = "TCP over loopback with TCP_NODELAY: a byte stream, framed by the known size";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV | ICEPATH_USES_SKB_COPY | ICEPATH_USES_BYTE_STREAM;
		it.capabilities = ICEPATH_CAN_PINGPONG;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: a byte stream has none";
		it.why_not = loopback_missing();
		return it;
	}();
	return n == 0 ? &tcp : nullptr;
}

int set_up(icepath_endpoint &end)
{
	end.stream = true;
	int &mine = end.side == 0 ? end.listener : end.socket;
	mine = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (mine < 0)
		return end.failed("socket");
	if (!bind_to_loopback(mine, end.given))
		return end.failed("bind to 127.0.0.1");
	if (end.side == 0 && listen(mine, kBacklog))
		return end.failed("listen");
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up);
}

int accept_from(icepath_endpoint *end, const sockaddr_in &expected)
{
	for (;;) {
		pollfd wait{end->listener, POLLIN, 0};
		if (poll(&wait, 1, kAcceptMs) <= 0)
			return end->sentence.tell(ICEPATH_FAILED, "tcp: the peer did not connect to 127.0.0.1");
		sockaddr_in from{};
		socklen_t size = sizeof(from);
		const int accepted = accept4(end->listener, reinterpret_cast<sockaddr *>(&from), &size, SOCK_CLOEXEC);
		if (accepted >= 0 && is_same(from, expected)) {
			end->socket = accepted;
			close(end->listener);
			end->listener = -1;
			return ICEPATH_OK;
		}
		if (accepted >= 0)
			close(accepted); // some other process
	}
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	sockaddr_in other{};
	if (!read_address(*peer, other))
		return end->sentence.tell(ICEPATH_FAILED, "tcp: the peer's address is not one of 127.0.0.1");
	if (end->side == 1) {
		if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other)))
			return end->failed("connect to 127.0.0.1");
	} else if (const int status = accept_from(end, other); status != ICEPATH_OK) {
		return status;
	}
	const int on = 1;
	if (setsockopt(end->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		return end->failed("setsockopt(TCP_NODELAY)");
	return watch_socket(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = socket_table("tcp", target, open_end, connect_end);
	return &plugin;
}
