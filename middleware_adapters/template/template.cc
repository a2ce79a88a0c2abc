// SPDX-License-Identifier: Apache-2.0
// A template: copy this folder, and put your library's calls where `library::` stands. It is a whole adapter, built and
// tested with the others, but not installed. Like them it uses plugin_kit/; raw.c shows the interface without it.
//
// A pair of connected sockets stands in for the library. Say at the head of your file how the library passes a message
// on: in which thread, by which kernel mechanisms, and what a reader of the layers must know.
#include <sys/socket.h>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace library {

constexpr uint64_t kLargest = 65536; // of a message

ssize_t publish(int channel, const void *data, size_t bytes) { return send(channel, data, bytes, MSG_NOSIGNAL); }
ssize_t take(int channel, void *data, size_t capacity, bool sleep)
{
	return recv(channel, data, capacity, sleep ? 0 : MSG_DONTWAIT);
}

} // namespace library

// One end of a channel. The thread that opened it calls all of its functions but cancel().
struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({channel}); }
	int channel = -1;
};

namespace {

// What `icepath list` shows, and what plans are checked against. Each target is a way of using the library that is
// worth comparing with another: its own transport, a mode.
const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "template";
		it.summary = "a pair of sockets, to be replaced by a library";
		// Only what the library really does: `block` sleeps in the receiving call, `poll` and `spin` never sleep,
		// `epoll` sleeps in a readiness wait (a waitset).
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		// Which probes its cells need. Here: stamps around the library's functions, and traced system calls. Do threads
		// of the library, or a daemon, carry messages? Then `| ICEPATH_USES_LIBRARY_THREADS`: without it a message is
		// taken to go from the sending thread to the receiving one, and layers may be wrong.
		it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		// it.capabilities = ICEPATH_CAN_LOAN if nothing is copied: then set loan() and the three functions after it
		it.max_payload_bytes = library::kLargest;
		it.max_payload_why = "the library carries 64 KiB";
		// it.qos = 1u << ICEPATH_QOS_DEPTH | …: what icepath_open::qos may ask for; granted() then returns the
		// values in effect
		// it.why_not = "…: what is missing here, and the remedy";
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

// Side 0 makes what both ends need and gives side 1 its descriptors. The library's threads, participants and sessions
// begin here. The ends are in two processes, or in one (--between). Both send and receive, in turns, but in one-way
// patterns, where side 0 sends.
int set_up(icepath_endpoint &end)
{
	if (!end.makes())
		return ICEPATH_OK;
	int both[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both))
		return end.failed("socketpair");
	end.channel = both[0];
	end.give(both[1]);
	return ICEPATH_OK;
}

// A library that joins its ends by a name needs no descriptors: both ends have the same `how->name`, which is new for
// each channel. Keep it after open_one_of(): (*endpoint)->name = how->name, a std::string of the endpoint; `side` tells
// the ends apart.
int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, set_up);
}

// Side 1 first, with side 0's address, then side 0 with side 1's. From here on messages go. meet() takes how many
// descriptors the peer gave, 0 if none did, and keeps the one that icepath adds: by it the peer's death is noticed.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->makes() ? 0 : 1); status != ICEPATH_OK)
		return status;
	if (!end->makes())
		end->channel = peer->fds[0];
	return ICEPATH_OK;
}

// Stamps go directly before and after the library's call, with nothing in between. For a library whose calls return as
// write(2) and read(2) do, send_by_calls() and recv_by_calls() stamp, retry, and check for cancellation. So a call
// returns how many bytes it moved, or -1 with errno set: EAGAIN where there is no message or no room, which is tried
// again; EPIPE or ECONNRESET where the peer is gone; any other is a failure. A call that sleeps must come back with
// EINTR when a signal arrives: that is how it is cancelled. A library that sleeps again then needs a timeout, or a
// cancel() of its own that wakes it (table.cancel).
int send_message(icepath_endpoint *end, icepath_send *message)
{
	return send_by_calls(*end, *message, "publish",
						 [end](const void *data, size_t bytes) { return library::publish(end->channel, data, bytes); });
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	return recv_by_calls<Boundary::Message>(*end, *message, "take", -1, [end](void *data, size_t capacity) {
		return library::take(end->channel, data, capacity, end->wait == ICEPATH_WAIT_BLOCK);
	});
}

} // namespace

// `daemon` describes a daemon that must run: see icepath_daemon, and the adapter for iceoryx.
ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table =
			plugin_table<icepath_endpoint>("template", target, open_end, connect_end, send_message, recv_message);
		// The library's name and version, as the report shows them.
		table.library_version = "template"
								" 1";
		// table.sockets: those that carry messages, if the library exposes them; the probes watch these.
		return table;
	}();
	return &plugin;
}
