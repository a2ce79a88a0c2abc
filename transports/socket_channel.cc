// SPDX-License-Identifier: Apache-2.0
#include "transports/socket_channel.h"

#include <sys/socket.h>

#include "transports/byte_transfer.h"
#include "transports/plugin_table.h"

namespace icepath::transports {
namespace {

int send_message(icepath_endpoint *end, icepath_send *message)
{
	// Waiting by epoll is about messages; for room, a sender that may sleep sleeps in the call.
	const int flags = MSG_NOSIGNAL | (end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
	return send_by_calls(*end, *message, "send", [=, socket = end->socket](const void *data, size_t bytes) {
		return send(socket, data, bytes, flags);
	});
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const int may_wait = end->wait == ICEPATH_WAIT_BLOCK ? 0 : MSG_DONTWAIT;
	const int socket = end->socket;
	if (end->stream)
		return recv_by_calls<Boundary::Stream>(*end, *message, "recv", end->epoll, [=](void *data, size_t bytes) {
			return recv(socket, data, bytes, may_wait);
		});
	return recv_by_calls<Boundary::Message>(*end, *message, "recv", end->epoll, [=](void *data, size_t bytes) {
		return recv(socket, data, bytes, may_wait | MSG_TRUNC);
	});
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	if (end->socket < 0 || capacity == 0)
		return 0;
	fds[0] = end->socket;
	return 1;
}

} // namespace

int watch_socket(icepath_endpoint *end)
{
	if (end->wait == ICEPATH_WAIT_EPOLL && (end->epoll = open_epoll(end->socket)) < 0)
		return end->failed("epoll");
	return ICEPATH_OK;
}

icepath_plugin socket_table(const char *name, decltype(icepath_plugin::target) target,
							decltype(icepath_plugin::open) open, decltype(icepath_plugin::connect) connect)
{
	icepath_plugin table = plugin_table(name, target, open, connect, send_message, recv_message);
	table.sockets = sockets;
	return table;
}

} // namespace icepath::transports
