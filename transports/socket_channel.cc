// SPDX-License-Identifier: Apache-2.0
#include "transports/socket_channel.h"

#include <sys/socket.h>

namespace icepath::transports {

int socket_send(icepath_endpoint *end, icepath_send *message) {
	// Waiting by epoll is about messages; for room, a sender that may sleep sleeps in the call.
	const int flags = MSG_NOSIGNAL | (end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
	return send_by_calls(*end, *message, "send", [=, socket = end->socket](const void *data, size_t bytes) {
		return send(socket, data, bytes, flags);
	});
}

int socket_recv(icepath_endpoint *end, icepath_recv *message) {
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

void socket_cancel(icepath_endpoint *end) {
	end->cancelled.store(true, std::memory_order_relaxed);
}

void socket_close(icepath_endpoint *end) {
	if (!end)
		return;
	for (const int fd : {end->socket, end->listener, end->epoll, end->peer_pidfd})
		if (fd >= 0)
			close(fd);
	close_given(end->given);
	delete end;
}

uint32_t socket_list(const icepath_endpoint *end, int *fds, uint32_t capacity) {
	if (end->socket < 0 || capacity == 0)
		return 0;
	fds[0] = end->socket;
	return 1;
}

Sentence &open_error() {
	static Sentence sentence;
	return sentence;
}

const char *socket_error(const icepath_endpoint *end) {
	return end ? end->sentence.text() : open_error().text();
}

int socket_connected(icepath_endpoint *end, const icepath_address *peer) {
	close_given(end->given);
	end->peer_pidfd = peer->fds[peer->fds_used - 1];
	if (end->wait == ICEPATH_WAIT_EPOLL) {
		end->epoll = open_epoll(end->socket);
		if (end->epoll < 0)
			return end->failed("epoll");
	}
	return ICEPATH_OK;
}

icepath_plugin socket_plugin(const char *name, decltype(icepath_plugin::target) target,
							 decltype(icepath_plugin::open) open, decltype(icepath_plugin::connect) connect) {
	icepath_plugin plugin{};
	plugin.size = sizeof(plugin);
	plugin.abi = ICEPATH_PLUGIN_ABI;
	plugin.name = name;
	plugin.target = target;
	plugin.open = open;
	plugin.connect = connect;
	plugin.send = socket_send;
	plugin.recv = socket_recv;
	plugin.cancel = socket_cancel;
	plugin.close = socket_close;
	plugin.error = socket_error;
	plugin.sockets = socket_list;
	return plugin;
}

} // namespace icepath::transports
