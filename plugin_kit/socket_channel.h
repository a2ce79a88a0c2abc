// SPDX-License-Identifier: Apache-2.0
#pragma once
// An endpoint that is a connected socket, or one for each direction: all of uds, tcp, udp and others besides opening and
// connecting it.
#include <memory>

#include "plugin_kit/channel_end.h"
#include "plugin_kit/death_watch.h"
#include "plugin_kit/parts.h"

namespace icepath::plugin_kit {
class ManySockets;
class ZerocopySender;
} // namespace icepath::plugin_kit

struct icepath_endpoint : icepath::plugin_kit::ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { icepath::plugin_kit::close_all({socket, sender, listener, epoll}); }
	int socket = -1;
	int sender = -1; // what messages leave by, where that isn't `socket`
	int listener = -1; // tcp side 0, until connected
	std::vector<uint16_t> admitted; // udp, a fan-in's receiver: its senders' ports
	int epoll = -1;
	bool stream = false;
	bool deaf = false; // the kernel doesn't tell a sender that the peer has died
	icepath::plugin_kit::DeathWatch watch;
	// Over a target that loses messages, parts carry a head.
	bool heads = false;
	uint32_t messages_sent = 0;
	icepath::plugin_kit::PartOrder order;
	std::vector<uint8_t> overhang; // of a part that is longer than the rest of the message that was due
	std::shared_ptr<icepath::plugin_kit::ZerocopySender> zerocopy; // where it sends so
	// Of a fan-in whose senders have a connection each: the receiver's ends of them, instead of `socket`.
	std::shared_ptr<icepath::plugin_kit::ManySockets> many;
};

namespace icepath::plugin_kit {

// The last step of connect(): `socket` is connected, or several senders are to it.
int watch_socket(icepath_endpoint *end);

// The same of a fan-in's receiver that has a connection for each sender: `socket` is the next one, and becomes one of `many`.
int watch_one_of_many(icepath_endpoint *end);

// The whole table of a socket transport.
icepath_plugin socket_table(const char *name, decltype(icepath_plugin::target) target,
							decltype(icepath_plugin::open) open, decltype(icepath_plugin::connect) connect);

} // namespace icepath::plugin_kit
