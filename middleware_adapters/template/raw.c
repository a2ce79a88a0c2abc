/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of plug-ins without plugin_kit/: a whole plug-in in C, for a SOCK_SEQPACKET socket pair. Built and
 * tested with the adapters, but not installed. The comments of icepath/plugin.h are the contract.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "icepath/plugin.h"

#define LARGEST 65536

struct icepath_endpoint {
	int channel, for_peer;
	enum icepath_wait wait;
	atomic_int cancelled;
	char sentence[160];
};

/* A failed open() has no endpoint to keep its sentence. */
static _Thread_local char open_sentence[160];

static int fail(char *sentence, int status, const char *what, const char *why)
{
	snprintf(sentence, 160, "raw: %s: %s", what, why);
	return status;
}

static const struct icepath_target *target(uint32_t n)
{
	static const struct icepath_target only = {
		.size = sizeof(only),
		.name = "raw",
		.summary = "a socket pair, by the bare interface",
		.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL,
		.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY,
		.max_payload_bytes = LARGEST,
		.max_payload_why = "the example's own limit",
	};
	return n == 0 ? &only : NULL;
}

static int open_end(const struct icepath_open *how, struct icepath_endpoint **endpoint, struct icepath_address *address)
{
	struct icepath_endpoint *end;
	int both[2];

	*endpoint = NULL;
	memset(address, 0, sizeof(*address));
	if (how->size < sizeof(*how)) /* an icepath of a later version has a longer one */
		return fail(open_sentence, ICEPATH_UNSUPPORTED, "open", "icepath_open is shorter than expected");
	if (!(how->wait & target(0)->waits) || how->peers > 1)
		return fail(open_sentence, ICEPATH_UNSUPPORTED, "open", "it waits by block and poll, for one sender");
	if (how->qos.policies)
		return fail(open_sentence, ICEPATH_UNSUPPORTED, "open", "it has no quality of service that was asked for");
	if (how->payload_bytes == 0 || how->payload_bytes > LARGEST) {
		snprintf(open_sentence, sizeof(open_sentence), "raw carries 1 to %d bytes, not %llu: %s", LARGEST,
				 (unsigned long long)how->payload_bytes, target(0)->max_payload_why);
		return ICEPATH_UNSUPPORTED;
	}
	end = calloc(1, sizeof(*end));
	if (!end)
		return fail(open_sentence, ICEPATH_FAILED, "open", "no memory");
	end->channel = end->for_peer = -1;
	end->wait = how->wait;
	if (how->side == 0) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both)) {
			free(end);
			return fail(open_sentence, ICEPATH_FAILED, "socketpair", strerror(errno));
		}
		end->channel = both[0];
		end->for_peer = address->fds[address->fds_used++] = both[1];
	}
	*endpoint = end;
	return ICEPATH_OK;
}

static int connect_end(struct icepath_endpoint *end, const struct icepath_address *peer)
{
	if (end->for_peer >= 0) { /* the peer has its own; keeping this one would hide its death */
		close(end->for_peer);
		end->for_peer = -1;
		return ICEPATH_OK;
	}
	if (peer->fds_used != 1)
		return fail(end->sentence, ICEPATH_FAILED, "connect", "the peer's address has no descriptor");
	end->channel = peer->fds[0];
	return ICEPATH_OK;
}

/* The status after a call that moved nothing. ICEPATH_OK: try again. */
static int judge(struct icepath_endpoint *end, const char *call)
{
	if (errno == EINTR || errno == EAGAIN)
		return ICEPATH_OK;
	return fail(end->sentence, errno == EPIPE || errno == ECONNRESET ? ICEPATH_CLOSED : ICEPATH_FAILED, call,
				strerror(errno));
}

static int send_message(struct icepath_endpoint *end, struct icepath_send *message)
{
	message->attempts = message->flags = 0;
	message->call_ns = message->publish_ns = 0;
	while (!atomic_load_explicit(&end->cancelled, memory_order_relaxed)) {
		const uint64_t call_ns = icepath_now_ns();
		const ssize_t sent = send(end->channel, message->data, message->bytes, MSG_NOSIGNAL);
		message->return_ns = icepath_now_ns();
		if (message->attempts++ == 0)
			message->call_ns = call_ns;
		if (sent >= 0)
			return ICEPATH_OK;
		if (judge(end, "send") != ICEPATH_OK)
			return judge(end, "send");
	}
	return fail(end->sentence, ICEPATH_CANCELLED, "send", "cancelled");
}

static int recv_message(struct icepath_endpoint *end, struct icepath_recv *message)
{
	message->ask_ns = icepath_now_ns();
	message->wait_return_ns = message->observe_ns = 0;
	message->attempts = 0;
	while (!atomic_load_explicit(&end->cancelled, memory_order_relaxed)) {
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const ssize_t got =
			recv(end->channel, message->data, message->capacity, end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
		message->take_return_ns = icepath_now_ns();
		if (got > 0) {
			message->bytes = (uint64_t)got;
			return ICEPATH_OK;
		}
		if (got == 0)
			return fail(end->sentence, ICEPATH_CLOSED, "recv", "the other end is closed");
		if (judge(end, "recv") != ICEPATH_OK)
			return judge(end, "recv");
	}
	return fail(end->sentence, ICEPATH_CANCELLED, "recv", "cancelled");
}

static void cancel(struct icepath_endpoint *end) { atomic_store(&end->cancelled, 1); }

static void close_end(struct icepath_endpoint *end)
{
	if (end->channel >= 0)
		close(end->channel);
	if (end->for_peer >= 0)
		close(end->for_peer);
	free(end);
}

static const char *error(const struct icepath_endpoint *end) { return end ? end->sentence : open_sentence; }

/* The probes watch these. */
static uint32_t sockets(const struct icepath_endpoint *end, int *fds, uint32_t capacity)
{
	if (end->channel < 0 || capacity == 0)
		return 0;
	fds[0] = end->channel;
	return 1;
}

__attribute__((visibility("default"))) const struct icepath_plugin *icepath_plugin_get(void)
{
	static const struct icepath_plugin plugin = {
		.size = sizeof(plugin),
		.abi = ICEPATH_PLUGIN_ABI,
		.name = "raw",
		.target = target,
		.open = open_end,
		.connect = connect_end,
		.send = send_message,
		.recv = recv_message,
		.cancel = cancel,
		.close = close_end,
		.error = error,
		.sockets = sockets,
	};
	return &plugin;
}
