// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint that is one connected socket: all of uds, tcp and udp besides opening and connecting it.
#include "icepath/plugin.h"
#include "transports/byte_transfer.h"
#include "transports/channel_end.h"

struct icepath_endpoint : icepath::transports::ChannelEnd {
	using ChannelEnd::ChannelEnd;
	int socket = -1;
	int listener = -1; // tcp side 0, until connected
	int epoll = -1;
	bool stream = false;
	icepath_address given{}; // fds in it are closed once the peer has them
};

namespace icepath::transports {

int socket_send(icepath_endpoint *end, icepath_send *message);
int socket_recv(icepath_endpoint *end, icepath_recv *message);
void socket_cancel(icepath_endpoint *end);
void socket_close(icepath_endpoint *end);
uint32_t socket_list(const icepath_endpoint *end, int *fds, uint32_t capacity);

// The sentence of an endpoint, or of the open() that failed last.
const char *socket_error(const icepath_endpoint *end);
Sentence &open_error();

// The last step of connect() on either side, with `socket` connected.
int socket_connected(icepath_endpoint *end, const icepath_address *peer);

// The whole table of a socket transport.
icepath_plugin socket_plugin(const char *name, decltype(icepath_plugin::target) target,
							 decltype(icepath_plugin::open) open, decltype(icepath_plugin::connect) connect);

} // namespace icepath::transports
