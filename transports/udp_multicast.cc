// SPDX-License-Identifier: Apache-2.0
// UDP to a multicast group that has one member, over loopback. Each side receives by a socket that is bound to the group
// and connected to the socket that the other side sends from, so the kernel drops what comes from elsewhere.
//
// An unused port or a dead member is no error here: no ICMP answers a multicast (icmp_send), so the sender looks itself.
#include <sys/socket.h>

#include "transports/byte_transfer.h"
#include "transports/death_watch.h"
#include "transports/loopback_address.h"
#include "transports/plugin_table.h"

using namespace icepath::transports;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({from_peer, to_peer, epoll}); }
	int from_peer = -1, to_peer = -1;
	int epoll = -1;
	DeathWatch watch;
};

namespace {

// Of the organisation-local scope (RFC 2365, section 6.2). What keeps channels apart is the port.
constexpr in_addr_t kGroup = 0xEFC0'1CE0; // 239.192.28.224

// What the peer must know of a side.
struct Told {
	in_port_t group_port, source_port; // in network order
};

sockaddr_in group(in_port_t port)
{
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(kGroup);
	address.sin_port = port;
	return address;
}

bool bind_to(int socket, sockaddr_in address, in_port_t &port)
{
	socklen_t size = sizeof(address);
	if (bind(socket, reinterpret_cast<const sockaddr *>(&address), size) ||
		getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size))
		return false;
	port = address.sin_port;
	return true;
}

bool connect_to(int socket, const sockaddr_in &address)
{
	return connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
}

// -1 with errno set.
int join_group(in_port_t &port)
{
	const int member = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const ip_mreqn on_loopback = {{htonl(kGroup)}, {htonl(INADDR_LOOPBACK)}, 0};
	if (member >= 0 && bind_to(member, group(0), port) &&
		setsockopt(member, IPPROTO_IP, IP_ADD_MEMBERSHIP, &on_loopback, sizeof(on_loopback)) == 0)
		return member;
	const int error = errno;
	close_all({member});
	errno = error;
	return -1;
}

const char *multicast_missing()
{
	if (const char *missing = loopback_missing())
		return missing;
	in_port_t unused = 0;
	const int member = join_group(unused);
	close_all({member});
	return member >= 0 ? nullptr : "no multicast group can be joined on 127.0.0.1: CONFIG_IP_MULTICAST is missing";
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target multicast = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "udp-multicast";
		it.summary = "UDP to a multicast group on loopback: messages, lost where the receiver is too slow";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV; // see udp.cc
		it.capabilities = ICEPATH_CAN_PINGPONG | ICEPATH_IS_LOSSY;
		it.max_payload_bytes = 65507;
		it.max_payload_why = "65535 bytes of an IPv4 packet less the headers of IP and UDP";
		it.why_not = multicast_missing();
		return it;
	}();
	return n == 0 ? &multicast : nullptr;
}

int set_up(icepath_endpoint &end)
{
	Told told{};
	end.from_peer = join_group(told.group_port);
	if (end.from_peer < 0)
		return end.failed("joining a multicast group on 127.0.0.1");
	end.to_peer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.to_peer < 0 || !bind_to(end.to_peer, loopback(), told.source_port))
		return end.failed("bind to 127.0.0.1");
	// By loopback, whatever the routes say. IP_MULTICAST_LOOP is the default.
	const ip_mreqn by_loopback = {{}, {htonl(INADDR_LOOPBACK)}, 0};
	if (setsockopt(end.to_peer, IPPROTO_IP, IP_MULTICAST_IF, &by_loopback, sizeof(by_loopback)))
		return end.failed("setsockopt(IP_MULTICAST_IF)");
	std::memcpy(end.given.bytes, &told, sizeof(told));
	end.given.bytes_used = sizeof(told);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	Told told{};
	if (peer->bytes_used != sizeof(told))
		return end->sentence.tell(ICEPATH_FAILED, "udp-multicast: the peer's address isn't two ports");
	std::memcpy(&told, peer->bytes, sizeof(told));
	sockaddr_in source = loopback();
	source.sin_port = told.source_port;
	if (!connect_to(end->from_peer, source) || !connect_to(end->to_peer, group(told.group_port)))
		return end->failed("connect");
	// What a stranger sent before the socket was connected is in its queue already.
	char stray = 0;
	while (recv(end->from_peer, &stray, sizeof(stray), MSG_DONTWAIT) >= 0)
		;
	if (end->wait == ICEPATH_WAIT_EPOLL && (end->epoll = open_epoll(end->from_peer)) < 0)
		return end->failed("epoll");
	return ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const int flags = end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0;
	const int status =
		send_by_calls(*end, *message, "send", [=, socket = end->to_peer](const void *data, size_t bytes) {
			return send(socket, data, bytes, flags);
		});
	return status == ICEPATH_OK ? end->watch.look(*end, message->return_ns) : status;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const int flags = MSG_TRUNC | (end->wait == ICEPATH_WAIT_BLOCK ? 0 : MSG_DONTWAIT);
	return recv_by_calls<Boundary::Message>(
		*end, *message, "recv", end->epoll,
		[=, socket = end->from_peer](void *data, size_t bytes) { return recv(socket, data, bytes, flags); });
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	uint32_t told = 0;
	for (const int socket : {end->from_peer, end->to_peer})
		if (socket >= 0 && told < capacity)
			fds[told++] = socket;
	return told;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("udp-multicast", target, open_end, connect_end, send_message, recv_message);
		table.sockets = sockets;
		return table;
	}();
	return &plugin;
}
