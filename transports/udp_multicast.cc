// SPDX-License-Identifier: Apache-2.0
// UDP to a multicast group with one member, over loopback. Each side receives on a socket bound to the group and
// connected to the other side's sending socket, so the kernel drops datagrams from elsewhere.
//
// Neither an unused port nor a dead member is an error: no ICMP answers a multicast (icmp_send), so the sender checks
// the peer itself.
#include <sys/socket.h>

#include "plugin_kit/loopback_address.h"
#include "plugin_kit/loopback_datagram.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

// In the organisation-local scope (RFC 2365, section 6.2). Ports keep channels apart.
constexpr in_addr_t kGroup = 0xEFC0'1CE0; // 239.192.28.224

// The address of a side.
struct Ports {
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
		it.capabilities = ICEPATH_IS_LOSSY;
		limit_to_datagrams(it);
		it.why_not = multicast_missing();
		return it;
	}();
	return n == 0 ? &multicast : nullptr;
}

int set_up(icepath_endpoint &end)
{
	Ports ports{};
	end.socket = join_group(ports.group_port);
	if (end.socket < 0)
		return end.failed("joining a multicast group on 127.0.0.1");
	end.deaf = true;
	if (const int status = make_room_for_parts(end); status != ICEPATH_OK)
		return status;
	end.sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.sender < 0 || !bind_to(end.sender, loopback(), ports.source_port))
		return end.failed("bind to 127.0.0.1");
	// Over loopback, whatever the routes say. IP_MULTICAST_LOOP is on by default.
	const ip_mreqn by_loopback = {{}, {htonl(INADDR_LOOPBACK)}, 0};
	if (setsockopt(end.sender, IPPROTO_IP, IP_MULTICAST_IF, &by_loopback, sizeof(by_loopback)))
		return end.failed("setsockopt(IP_MULTICAST_IF)");
	std::memcpy(end.given.bytes, &ports, sizeof(ports));
	end.given.bytes_used = sizeof(ports);
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
	Ports ports{};
	if (peer->bytes_used != sizeof(ports))
		return end->sentence.tell(ICEPATH_FAILED, "udp-multicast: the peer's address isn't two ports");
	std::memcpy(&ports, peer->bytes, sizeof(ports));
	sockaddr_in source = loopback();
	source.sin_port = ports.source_port;
	if (!connect_to(end->socket, source) || !connect_to(end->sender, group(ports.group_port)))
		return end->failed("connect");
	// Datagrams that strangers sent before the socket was connected are in its queue already.
	char stray = 0;
	while (recv(end->socket, &stray, sizeof(stray), MSG_DONTWAIT) >= 0)
		;
	return watch_socket(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = socket_table("udp-multicast", target, open_end, connect_end);
	return &plugin;
}
