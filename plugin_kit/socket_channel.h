// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint that is a connected socket, or one for each direction: everything of uds, tcp, udp and others but opening
// and connecting it.
#include <memory>

#include "plugin_kit/channel_end.h"
#include "plugin_kit/parts.h"

namespace icepath::plugin_kit {
class ManySockets;
class ZerocopySender;
} // namespace icepath::plugin_kit

struct icepath_endpoint : icepath::plugin_kit::ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { icepath::plugin_kit::close_all({socket, sender, listener, epoll}); }
	int socket = -1;
	int sender = -1; // the socket for sending, if it isn't `socket`
	int listener = -1; // side 0 of tcp and vsock, until connected
	std::vector<uint16_t> admitted; // ports of the senders to udp's fan-in receiver
	int epoll = -1;
	bool stream = false;
	bool deaf = false; // the kernel doesn't report the peer's death to a sender
	icepath::plugin_kit::DeathWatch watch;
	// Over a target that loses messages, parts carry a head.
	bool heads = false;
	uint32_t messages_sent = 0;
	icepath::plugin_kit::PartOrder order;
	std::vector<uint8_t> overhang; // the excess of a part over the rest of the due message
	std::shared_ptr<icepath::plugin_kit::ZerocopySender> zerocopy; // if it sends with MSG_ZEROCOPY
	// A fan-in's receiver with a connection for each sender has them here instead of in `socket`.
	std::shared_ptr<icepath::plugin_kit::ManySockets> many;
};

namespace icepath::plugin_kit {

// The last step of connect(): `socket` is connected, or several senders are connected to it.
int watch_socket(icepath_endpoint *end);

// Likewise for a fan-in's receiver with a connection for each sender: moves `socket`, the next one, into `many`.
int watch_one_of_many(icepath_endpoint *end);

// The whole table of a socket transport.
icepath_plugin socket_table(const char *name, decltype(icepath_plugin::target) target,
							decltype(icepath_plugin::open) open, decltype(icepath_plugin::connect) connect);

} // namespace icepath::plugin_kit
