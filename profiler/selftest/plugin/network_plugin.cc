// SPDX-License-Identifier: Apache-2.0
// UDP over the loopback device of the run's own network namespace, where a delay in that device disturbs nobody else.
// It claims to wrap a library, because only a library's workers get a namespace.
#include <sys/socket.h>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/loopback_address.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({socket}); }
	int socket = -1;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target network = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "selftest-network/udp";
		it.summary = "UDP in a network namespace of its own";
		it.waits = ICEPATH_WAIT_BLOCK;
		it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV;
		it.capabilities = ICEPATH_NOT_IPC | ICEPATH_IS_LOSSY;
		it.max_payload_bytes = 1024;
		it.max_payload_why = "the selftest's own limit";
		return it;
	}();
	return n == 0 ? &network : nullptr;
}

int set_up(icepath_endpoint &end)
{
	end.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.socket < 0)
		return end.failed("socket");
	return bind_to_loopback(end.socket, end.given) ? ICEPATH_OK : end.failed("bind to 127.0.0.1");
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	sockaddr_in other{};
	if (!read_address(*peer, other))
		return end->sentence.tell(ICEPATH_FAILED, "%s: the peer's address is not one of 127.0.0.1", end->target);
	if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other)))
		return end->failed("connect to 127.0.0.1");
	return ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	return send_by_calls(*end, *message, "send",
						 [fd = end->socket](const void *data, size_t bytes) { return send(fd, data, bytes, 0); });
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	return recv_by_calls<Boundary::Message>(*end, *message, "recv", -1, [fd = end->socket](void *data, size_t bytes) {
		return recv(fd, data, bytes, MSG_TRUNC);
	});
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	return list_sockets({end->socket}, fds, capacity);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table =
			plugin_table("selftest-network", target, open_end, connect_end, send_message, recv_message);
		table.sockets = sockets;
		table.library_version = "icepath selftest";
		return table;
	}();
	return &plugin;
}
