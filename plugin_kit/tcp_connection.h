// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TCP connection over loopback between the two ends of a channel. Side 0 listens on a port that the kernel chooses
// and accepts only the socket that side 1 bound before, so that no other process can slip in. In a fan-in, side 1 has
// one socket for each sender, all bound to one address: their peers tell them apart. An endpoint has `socket`, and side
// 0 has `listener` until it is connected.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "plugin_kit/channel_end.h"
#include "plugin_kit/loopback_address.h"

namespace icepath::plugin_kit {

inline constexpr int kTcpAcceptMs = 5000;
inline constexpr int kTcpBacklog = 8;

template <class Endpoint> int set_up_tcp(Endpoint &end)
{
	int &mine = end.side == 0 ? end.listener : end.socket;
	mine = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (mine < 0)
		return end.failed("socket");
	// Every socket bound to one address must allow it (inet_csk_bind_conflict).
	const int on = 1;
	if (end.in_fan_in() && end.side == 1 && setsockopt(mine, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return end.failed("setsockopt(SO_REUSEADDR)");
	if (!bind_to_loopback(mine, end.given))
		return end.failed("bind to 127.0.0.1");
	if (end.side == 0 && listen(mine, kTcpBacklog))
		return end.failed("listen");
	return ICEPATH_OK;
}

// A fan-in's side 1: one more socket at the address that its senders know.
template <class Endpoint> int bind_another_tcp(Endpoint &end)
{
	const int on = 1;
	end.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (end.socket < 0 || setsockopt(end.socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return end.failed("socket");
	sockaddr_in bound{};
	if (!read_address(end.given, bound) || bind(end.socket, reinterpret_cast<const sockaddr *>(&bound), sizeof(bound)))
		return end.failed("bind to 127.0.0.1 once more");
	return ICEPATH_OK;
}

template <class Endpoint> int accept_tcp_from(Endpoint *end, const sockaddr_in &expected)
{
	for (;;) {
		pollfd wait{end->listener, POLLIN, 0};
		if (poll(&wait, 1, kTcpAcceptMs) <= 0)
			return end->sentence.tell(ICEPATH_FAILED, "%s: the peer did not connect to 127.0.0.1", end->target);
		sockaddr_in from{};
		socklen_t size = sizeof(from);
		const int accepted = accept4(end->listener, reinterpret_cast<sockaddr *>(&from), &size, SOCK_CLOEXEC);
		if (accepted >= 0 && is_same(from, expected)) {
			end->socket = accepted;
			close(end->listener);
			end->listener = -1;
			return ICEPATH_OK;
		}
		close_all({accepted}); // another process
	}
}

template <class Endpoint> int connect_tcp(Endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	sockaddr_in other{};
	if (!read_address(*peer, other))
		return end->sentence.tell(ICEPATH_FAILED, "%s: the peer's address is not one of 127.0.0.1", end->target);
	if (end->side == 1) {
		if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other)))
			return end->failed("connect to 127.0.0.1");
	} else if (const int status = accept_tcp_from(end, other); status != ICEPATH_OK) {
		return status;
	}
	const int on = 1;
	if (setsockopt(end->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		return end->failed("setsockopt(TCP_NODELAY)");
	return ICEPATH_OK;
}

} // namespace icepath::plugin_kit
