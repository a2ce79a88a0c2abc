// SPDX-License-Identifier: Apache-2.0
// Endpoints that do more than send and receive, with real system calls: what a delay from outside needs to hit, or what
// only the measured process can do to itself. Only `icepath selftest` uses them.
#include <fcntl.h>
#include <sys/socket.h>

#include <iterator>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/tcp_connection.h"
#include "profiler/selftest/plugin/own_delay.h"
#include "profiler/selftest/plugin/stretch.h"

using namespace icepath::plugin_kit;
using namespace icepath::selftest;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint()
	{
		own.reset();
		close_all({socket, listener});
	}
	int socket = -1; // or this side's end of a pipe
	int listener = -1; // tcp side 0, until connected
	std::unique_ptr<OwnDelay> own;
};

namespace {

constexpr uint64_t kUs = 1000, kLargest = 1024; // bytes: less than a pipe's page or TCP's segment

enum class By { Seqpacket, Tcp, Pipe };

struct Kind {
	icepath_target target;
	By by;
	Own own;
	uint64_t ns;
};

uint32_t mechanisms_of(By by)
{
	if (by == By::Pipe)
		return ICEPATH_USES_BYTE_STREAM | ICEPATH_USES_PIPE;
	const uint32_t tcp = by == By::Tcp ? ICEPATH_USES_NETDEV | ICEPATH_USES_BYTE_STREAM : 0;
	return ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY | tcp;
}

Kind kind(const char *name, const char *summary, By by, Own own, uint64_t ns)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = ICEPATH_WAIT_BLOCK;
	it.mechanisms = mechanisms_of(by);
	if (own == Own::Lock)
		it.mechanisms |= ICEPATH_USES_LIBRARY_CALLS; // the surrounding futex calls reveal a lock
	it.capabilities = ICEPATH_NOT_IPC;
	it.max_payload_bytes = kLargest;
	it.max_payload_why = "the selftest's own limit";
	return {it, by, own, ns};
}

const Kind &kind_at(uint32_t n)
{
	static const Kind all[] = {
		kind("selftest/work", "computes before each message", By::Seqpacket, Own::Work, 0),
		kind("selftest/asleep", "sleeps before it asks", By::Seqpacket, Own::Asleep, 600 * kUs),
		kind("selftest/asleep-briefly", "likewise", By::Seqpacket, Own::Asleep, 100 * kUs),
		kind("selftest/held", "uncorks some time after each message", By::Tcp, Own::Held, 500 * kUs),
		kind("selftest/held-not", "uncorks at once", By::Tcp, Own::Held, 0),
		kind("selftest/full-queue", "finds its pipe full for some time", By::Pipe, Own::FullQueue, 1000 * kUs),
		kind("selftest/full-queue-briefly", "likewise", By::Pipe, Own::FullQueue, 100 * kUs),
		kind("selftest/lock", "waits for a lock", By::Seqpacket, Own::Lock, 1000 * kUs),
		kind("selftest/lock-briefly", "likewise", By::Seqpacket, Own::Lock, 100 * kUs),
		kind("selftest/fault", "waits for a page", By::Seqpacket, Own::Fault, 1000 * kUs),
		kind("selftest/fault-briefly", "likewise", By::Seqpacket, Own::Fault, 100 * kUs),
	};
	static const Kind none{};
	return n < std::size(all) ? all[n] : none;
}

const icepath_target *target(uint32_t n) { return kind_at(n).target.name ? &kind_at(n).target : nullptr; }

const Kind &kind_of(const icepath_endpoint &end)
{
	for (uint32_t n = 0; target(n); n++)
		if (target(n)->name == end.target)
			return kind_at(n);
	return kind_at(0);
}

int begin_own(icepath_endpoint &end)
{
	const Kind &kind = kind_of(end);
	end.own = own_delay(kind.own, stretched(kind.ns), end, end.socket);
	return end.own ? ICEPATH_OK : end.failed("what it shall be delayed by");
}

int set_up(icepath_endpoint &end)
{
	const By by = kind_of(end).by;
	if (by == By::Tcp)
		return set_up_tcp(end);
	if (!end.makes())
		return ICEPATH_OK;
	int pair[2];
	if (by == By::Pipe ? pipe2(pair, O_CLOEXEC) : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return end.failed(by == By::Pipe ? "pipe2" : "socketpair");
	end.socket = pair[1]; // for a pipe, the writing end: side 0 sends
	end.give(pair[0]);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (kind_of(*end).by == By::Tcp) {
		if (const int status = connect_tcp(end, peer); status != ICEPATH_OK)
			return status;
		return begin_own(*end);
	}
	if (const int status = end->meet(*peer, end->makes() ? 0 : 1); status != ICEPATH_OK)
		return status;
	if (!end->makes())
		end->socket = peer->fds[0];
	return begin_own(*end);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (!end->own->before_send())
		return end->failed("what comes before sending");
	const int status = send_by_calls(
		*end, *message, "write", [fd = end->socket](const void *data, size_t bytes) { return write(fd, data, bytes); });
	if (status == ICEPATH_OK && !end->own->after_send())
		return end->failed("what comes after sending");
	return status;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (!end->own->before_ask())
		return end->failed("what comes before asking");
	const auto take = [fd = end->socket](void *data, size_t bytes) { return read(fd, data, bytes); };
	return kind_of(*end).by == By::Seqpacket ? recv_by_calls<Boundary::Message>(*end, *message, "read", -1, take)
											 : recv_by_calls<Boundary::Stream>(*end, *message, "read", -1, take);
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	return kind_of(*end).by == By::Pipe ? 0 : list_sockets({end->socket}, fds, capacity);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("selftest", target, open_end, connect_end, send_message, recv_message);
		table.sockets = sockets;
		return table;
	}();
	return &plugin;
}
