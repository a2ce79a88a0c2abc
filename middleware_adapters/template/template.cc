// SPDX-License-Identifier: Apache-2.0
// A template: copy this folder, and put your library's calls where `library::` stands. It needs no header of icepath's but the
// interface, and is a whole adapter: it is built and tested with the others, and not installed.
//
// What stands for the library here is a pair of connected sockets. Say at the head of your file how the library hands a message
// over: in which thread, by which of the kernel's mechanisms, and what of that a reader of the layers must know.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "icepath/plugin.h"

namespace library {

constexpr uint64_t kLargest = 65536; // of a message

ssize_t publish(int channel, const void *data, size_t bytes) { return send(channel, data, bytes, MSG_NOSIGNAL); }
ssize_t take(int channel, void *data, size_t capacity, bool sleep)
{
	return recv(channel, data, capacity, sleep ? 0 : MSG_DONTWAIT);
}

} // namespace library

// One end of a channel. All of its functions but cancel() are called by the thread that opened it.
struct icepath_endpoint {
	int channel = -1, for_peer = -1;
	icepath_wait wait = ICEPATH_WAIT_BLOCK;
	uint64_t payload_bytes = 0;
	std::atomic<bool> cancelled{false};
	char sentence[200] = "";

	~icepath_endpoint()
	{
		for (const int fd : {channel, for_peer})
			if (fd >= 0)
				close(fd);
	}
};

namespace {

// Of an open() that failed there is no endpoint that could keep the sentence.
thread_local char open_sentence[200] = "";

// One clear sentence: what failed, on what, and why. Ends a function that fails.
__attribute__((format(printf, 3, 4))) int tell(char (&sentence)[200], int status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	std::vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	return status;
}

// What `icepath list` shows, and what plans are checked against. Each target is a way of using the library that is worth comparing
// with another: a transport of its own, a mode.
const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "template";
		it.summary = "the template of an adapter";
		// Only what the library really does: `block` sleeps in the receiving call, `poll` and `spin` never sleep, `epoll` sleeps in
		// a readiness wait (a waitset).
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		// Which probes its cells need. Here: stamps around the library's functions, and its system calls traced.
		it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		it.capabilities =
			ICEPATH_CAN_PINGPONG; // ICEPATH_CAN_LOAN where nothing is copied: then loan() and the three after it
		it.max_payload_bytes = library::kLargest;
		it.max_payload_why = "the template's library carries 64 KiB";
		// it.qos = 1u << ICEPATH_QOS_DEPTH | …: what icepath_open::qos may ask for; then set granted() to what the library made of it
		// it.why_not = "…: what is missing here, and what mends it";
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

// Side 0 makes what both ends need and tells side 1 by the address: names, descriptors. Threads, participants and sessions of the
// library begin here.
int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	*endpoint = nullptr;
	*address = icepath_address{};
	if (how->size != sizeof(icepath_open))
		return tell(open_sentence, ICEPATH_UNSUPPORTED, "template: icepath_open has %u bytes, expected %zu", how->size,
					sizeof(icepath_open));
	if ((target(0)->waits & how->wait) == 0)
		return tell(open_sentence, ICEPATH_UNSUPPORTED, "template does not support the wait that was asked for");
	if (how->qos.policies & ~target(0)->qos)
		return tell(open_sentence, ICEPATH_UNSUPPORTED,
					"template does not have the quality of service that was asked for");
	if (how->peers > 1)
		return tell(open_sentence, ICEPATH_UNSUPPORTED, "template has no end that takes from several senders");
	if (how->payload_bytes == 0 || how->payload_bytes > library::kLargest)
		return tell(open_sentence, ICEPATH_UNSUPPORTED, "template carries 1 to %llu bytes, not %llu: %s",
					static_cast<unsigned long long>(library::kLargest),
					static_cast<unsigned long long>(how->payload_bytes), target(0)->max_payload_why);
	auto *end = new (std::nothrow) icepath_endpoint;
	if (!end)
		return tell(open_sentence, ICEPATH_FAILED, "template: no memory");
	end->wait = how->wait;
	end->payload_bytes = how->payload_bytes;
	if (how->side == 0) {
		int both[2];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both)) {
			delete end;
			return tell(open_sentence, ICEPATH_FAILED, "template: socketpair failed: %s", std::strerror(errno));
		}
		end->channel = both[0];
		end->for_peer = both[1];
		address->fds[address->fds_used++] = both[1]; // icepath duplicates it for the peer; it stays this end's
	}
	*endpoint = end;
	return ICEPATH_OK;
}

// Side 1 first, with side 0's address, then side 0 with side 1's. From here on messages go.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (end->channel >= 0) {
		// By now the peer has its own, and keeping this one would hide its death.
		close(end->for_peer);
		end->for_peer = -1;
		return ICEPATH_OK;
	}
	if (peer->fds_used != 1)
		return tell(end->sentence, ICEPATH_FAILED, "template: the peer's address has %u descriptors, expected 1",
					peer->fds_used);
	end->channel = peer->fds[0];
	return ICEPATH_OK;
}

// cancel() has set the flag, and a signal that does nothing interrupts whoever sleeps.
int cancelled(icepath_endpoint *end)
{
	return tell(end->sentence, ICEPATH_CANCELLED, "a call on template was cancelled");
}

bool is_cancelled(const icepath_endpoint *end) { return end->cancelled.load(std::memory_order_relaxed); }

int failed(icepath_endpoint *end, const char *call)
{
	if (errno == EPIPE || errno == ECONNRESET)
		return tell(end->sentence, ICEPATH_CLOSED, "the other end of template is closed (%s: %s)", call,
					std::strerror(errno));
	return tell(end->sentence, ICEPATH_FAILED, "template: %s failed: %s", call, std::strerror(errno));
}

// Stamps directly before and after the library's call, and nothing in between.
int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 0;
	message->call_ns = message->publish_ns = 0;
	for (;;) {
		if (is_cancelled(end))
			return cancelled(end);
		message->attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const ssize_t sent = library::publish(end->channel, message->data, message->bytes);
		message->return_ns = icepath_now_ns();
		if (message->call_ns == 0)
			message->call_ns = now_ns;
		if (sent >= 0)
			return ICEPATH_OK;
		if (errno != EINTR)
			return failed(end, "publish");
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	message->ask_ns = icepath_now_ns();
	message->wait_return_ns = message->observe_ns = 0;
	message->attempts = 0;
	for (;;) {
		if (is_cancelled(end))
			return cancelled(end);
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const ssize_t got =
			library::take(end->channel, message->data, message->capacity, end->wait == ICEPATH_WAIT_BLOCK);
		message->take_return_ns = icepath_now_ns();
		if (got > 0) {
			message->bytes = static_cast<uint64_t>(got);
			return ICEPATH_OK;
		}
		if (got == 0)
			return tell(end->sentence, ICEPATH_CLOSED, "the other end of template is closed");
		if (errno != EINTR && errno != EAGAIN)
			return failed(end, "take");
	}
}

} // namespace

// A daemon that must run beside is told by `daemon`: see icepath_daemon, and the adapter for iceoryx.
extern "C" __attribute__((visibility("default"))) const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table{};
		table.size = sizeof(table);
		table.abi = ICEPATH_PLUGIN_ABI;
		table.name = "template";
		table.library_version = "template 1"; // as the library tells it
		table.target = target;
		table.open = open_end;
		table.connect = connect_end;
		table.send = send_message;
		table.recv = recv_message;
		table.cancel = [](icepath_endpoint *end) { end->cancelled.store(true, std::memory_order_relaxed); };
		table.close = [](icepath_endpoint *end) { delete end; };
		table.error = [](const icepath_endpoint *end) -> const char * { return end ? end->sentence : open_sentence; };
		// Sockets that carry messages, where the library tells them: the probes watch these.
		table.sockets = [](const icepath_endpoint *, int *, uint32_t) { return 0u; };
		return table;
	}();
	return &plugin;
}
