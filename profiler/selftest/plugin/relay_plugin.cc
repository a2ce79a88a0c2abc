// SPDX-License-Identifier: Apache-2.0
// Messages through a relay: two UNIX sockets, and a process between them that holds each message for some time. Its
// endpoints stamp like a library's, so that the path is found from what its threads and the relay did.
#include <sys/socket.h>

#include <array>
#include <iterator>
#include <optional>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/plugin_table.h"
#include "profiler/selftest/plugin/beside.h"
#include "profiler/selftest/plugin/relay.h"
#include "profiler/selftest/plugin/stretch.h"

using namespace icepath::plugin_kit;
using namespace icepath::selftest;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint()
	{
		heartbeats.reset();
		end_beside(relay);
		close_all({socket, beats, relays.in, relays.beats, relays.out});
	}
	int socket = -1; // messages to the relay
	int beats = -1; // side 0: heartbeats to the relay
	std::optional<Heartbeats> heartbeats; // side 0
	RelaySockets relays; // side 1, until it has started the relay
	pid_t relay = -1; // side 1
};

namespace {

constexpr uint64_t kUs = 1000;

struct Kind {
	icepath_target target;
	uint64_t hold_ns;
};

Kind kind(const char *name, uint64_t hold_ns)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = "goes by a relay that chats";
	it.waits = ICEPATH_WAIT_BLOCK;
	it.mechanisms = ICEPATH_USES_LIBRARY_CALLS | ICEPATH_USES_LIBRARY_THREADS;
	it.capabilities = ICEPATH_NOT_IPC | ICEPATH_BETWEEN_PROCESSES;
	it.max_payload_bytes = 1024;
	it.max_payload_why = "the selftest's own limit";
	return {it, hold_ns};
}

const Kind kKinds[] = {kind("selftest-relay/late", 600 * kUs), kind("selftest-relay/soon", 100 * kUs)};

const icepath_target *target(uint32_t n) { return n < std::size(kKinds) ? &kKinds[n].target : nullptr; }

uint64_t hold_of(const icepath_endpoint &end)
{
	for (const Kind &kind : kKinds)
		if (kind.target.name == end.target)
			return kind.hold_ns;
	return 0;
}

int set_up(icepath_endpoint &end)
{
	int messages[2], beats[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, messages))
		return end.failed("socketpair");
	end.socket = messages[0];
	if (end.side == 1) {
		end.relays.out = messages[1];
		return ICEPATH_OK;
	}
	end.give(messages[1]);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beats))
		return end.failed("socketpair");
	end.beats = beats[0];
	end.give(beats[1]);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	const uint32_t others = end->side == 1 ? 2 : 0;
	if (const int status = end->meet(*peer, others); status != ICEPATH_OK)
		return status;
	if (others) {
		end->relays.in = peer->fds[0];
		end->relays.beats = peer->fds[1];
	}
	return ICEPATH_OK;
}

// Both start with the first message: by then threads have the policy and the CPU that the others inherit.
int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (!end->heartbeats)
		end->heartbeats.emplace(end->beats);
	end->heartbeats->go_on();
	return send_by_calls(*end, *message, "write", [fd = end->socket](const void *data, size_t bytes) {
		return send(fd, data, bytes, MSG_NOSIGNAL);
	});
}

int begin_relay(icepath_endpoint &end)
{
	end.relay = start_relay(end.relays, end.payload_bytes, stretched(hold_of(end)));
	if (end.relay < 0)
		return end.failed("fork");
	close_all({end.relays.in, end.relays.beats, end.relays.out}); // they would hide the relay's end
	end.relays = {};
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (end->relay < 0)
		if (const int status = begin_relay(*end); status != ICEPATH_OK)
			return status;
	return recv_by_calls<Boundary::Stream>(
		*end, *message, "read", -1, [fd = end->socket](void *data, size_t bytes) { return read(fd, data, bytes); });
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("selftest-relay", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
