// SPDX-License-Identifier: Apache-2.0
// UDP between two network namespaces, through a device's queue in which a filling precedes each message.
#include <sys/socket.h>

#include <array>
#include <string>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/plugin_table.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/plugin/two_networks.h"

using namespace icepath::plugin_kit;
using namespace icepath::selftest;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({socket, other}); }
	int socket = -1;
	int other = -1; // for the fillings
};

namespace {

constexpr uint64_t kUs = 1000;

struct Kind {
	icepath_target target;
	uint64_t wait_ns;
};

Kind kind(const char *name, uint64_t wait_ns, const std::string &why_not)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = "UDP through a device's queue";
	it.waits = ICEPATH_WAIT_BLOCK;
	it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_NETDEV;
	it.capabilities = ICEPATH_NOT_IPC | ICEPATH_IS_LOSSY;
	it.max_payload_bytes = why_not.empty() ? kDatagramBytes : 0;
	it.max_payload_why = "the selftest's own limit";
	it.why_not = why_not.empty() ? nullptr : why_not.c_str();
	return {it, wait_ns};
}

const Kind *kind_at(uint32_t n)
{
	static const std::string why_not = [] {
		TwoNetworks tried = make_two_networks(kUs);
		close_all({tried.sender, tried.filler, tried.receiver, tried.sink});
		return tried.why_not;
	}();
	static const std::array kinds = {kind("selftest-queue/late", 450 * kUs, why_not),
									 kind("selftest-queue/soon", 50 * kUs, why_not)};
	return n < kinds.size() ? &kinds[n] : nullptr;
}

const icepath_target *target(uint32_t n) { return kind_at(n) ? &kind_at(n)->target : nullptr; }

int set_up(icepath_endpoint &end)
{
	if (end.side == 1)
		return ICEPATH_OK;
	const Kind *kind = kind_at(0)->target.name == end.target ? kind_at(0) : kind_at(1);
	const TwoNetworks networks = make_two_networks(stretched(kind->wait_ns));
	if (!networks.why_not.empty())
		return end.sentence.tell(ICEPATH_FAILED, "%s: %s", end.target, networks.why_not.c_str());
	end.socket = networks.sender;
	end.other = networks.filler;
	end.give(networks.receiver);
	end.give(networks.sink);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side == 1 ? 2 : 0); status != ICEPATH_OK || end->side == 0)
		return status;
	end->socket = peer->fds[0];
	end->other = peer->fds[1];
	return ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const std::array<uint8_t, kFillingBytes> filling{};
	if (send(end->other, filling.data(), filling.size(), MSG_DONTWAIT) < 0)
		return end->failed("what comes before sending");
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
			plugin_table("selftest-queue", target, open_end, connect_end, send_message, recv_message);
		table.sockets = sockets;
		return table;
	}();
	return &plugin;
}
