// SPDX-License-Identifier: Apache-2.0
// UDP over loopback between two connected sockets: the kernel drops datagrams from elsewhere, and those that find the
// receive buffer full. In a fan-in, several are connected to one that isn't; its filter drops datagrams of strangers.
#include <linux/filter.h>
#include <sys/socket.h>

#include <iterator>
#include <vector>

#include "plugin_kit/loopback_address.h"
#include "plugin_kit/loopback_datagram.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/socket_channel.h"
#include "plugin_kit/zerocopy.h"

using namespace icepath::plugin_kit;

namespace {

icepath_target plain_target()
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = "udp";
	it.summary = "UDP over loopback: messages, lost where the receiver is too slow";
	it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
	it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV; // a linear skb is copied without skb_copy_datagram_iovec
	it.capabilities = ICEPATH_IS_LOSSY | ICEPATH_CAN_FANIN;
	it.fanin_waits = it.waits;
	limit_to_datagrams(it);
	it.why_not = loopback_missing();
	return it;
}

// An skb that refers to the sender's pages is never linear.
icepath_target zerocopy()
{
	icepath_target it = zerocopy_target(plain_target(), "udp-zerocopy",
										"udp with MSG_ZEROCOPY, which the kernel answers by copying on loopback",
										kLargestDatagram, "one datagram of IPv4: such messages don't go in parts");
	it.mechanisms |= ICEPATH_USES_SKB_COPY;
	return it;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target all[] = {plain_target(), zerocopy()};
	return n < std::size(all) ? &all[n] : nullptr;
}

int set_up(icepath_endpoint &end)
{
	if (end.target == target(1)->name)
		end.zerocopy = std::make_shared<ZerocopySender>();
	end.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.socket < 0)
		return end.failed("socket");
	if (const int status = make_room_for_parts(end); status != ICEPATH_OK)
		return status;
	return bind_to_loopback(end.socket, end.given) ? ICEPATH_OK : end.failed("bind to 127.0.0.1");
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

// sk_filter runs with the UDP header in front (udp_queue_rcv_one_skb): its first two bytes are the sender's port.
int admit(icepath_endpoint *end, uint16_t port)
{
	end->admitted.push_back(port);
	std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0)};
	for (size_t i = 0; i < end->admitted.size(); i++)
		program.push_back(
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, end->admitted[i], static_cast<uint8_t>(end->admitted.size() - i), 0));
	program.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
	program.push_back(BPF_STMT(BPF_RET | BPF_K, UINT32_MAX));
	const sock_fprog filter{static_cast<uint16_t>(program.size()), program.data()};
	return setsockopt(end->socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter))
			   ? end->failed("setsockopt(SO_ATTACH_FILTER)")
			   : ICEPATH_OK;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	sockaddr_in other{};
	if (!read_address(*peer, other))
		return end->sentence.tell(ICEPATH_FAILED, "udp: the peer's address is not one of 127.0.0.1");
	if (end->in_fan_in() && end->makes()) {
		if (const int status = admit(end, ntohs(other.sin_port)); status != ICEPATH_OK)
			return status;
	} else if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other))) {
		return end->failed("connect to 127.0.0.1");
	}
	// Datagrams that strangers sent before the socket was connected are in its queue already.
	char stray = 0;
	while (recv(end->socket, &stray, sizeof(stray), MSG_DONTWAIT) >= 0)
		;
	return watch_socket_and_completions(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = with_zerocopy(socket_table("udp", target, open_end, connect_end));
	return &plugin;
}
