// SPDX-License-Identifier: Apache-2.0
// nng (nanomsg-next-generation), with its C API: a pair of pair0 sockets over a UNIX or a TCP socket, and messages that
// the library owns (nng_msg).
//
// nng_sendmsg() writes to the socket in the sender's own thread, if the socket has room. The receiving end's poller
// thread, asleep in epoll_wait(), reads the nine bytes of the head and wakes a thread of the library's task queue,
// which reads the rest. That thread or another one puts the message into the receiver's queue and wakes the receiver
// through a condition variable, or raises the descriptor that it polls. So an idle path has three or four wake-ups. A
// sender's task thread is woken too, only to learn that the message was written. The bytes are copied as often as with
// ZeroMQ: into the message, into the kernel, out of it, and out of the message. A received message is the next to send,
// as in the library's own benchmark (perf.c), so an end that answers allocates none.
//
// Nothing is lost while both live: a full queue makes the sender wait. It waits in nng_sendmsg() whatever the wait is,
// because asking for the descriptor that signals room would make every send raise and clear it.
//
// No signal interrupts nng_recvmsg() or nng_sendmsg(). cancel() closes the socket, which any thread may do: both then
// fail with NNG_ECLOSED, in less than a millisecond.
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <poll.h>

#include <string>
#include <utility>

#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 64 * 1024 * 1024;
constexpr uint64_t kDefaultQueue = 128; // messages; the library's default is 0
constexpr int kConnectMs = 5000;

// Whether the connection was made, and whether it ended; set by library threads.
struct Connection {
	std::atomic<bool> came{false}, went{false};
};

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint()
	{
		if (nng_socket_id(socket) > 0)
			nng_close(socket); // no event follows
		if (spare)
			nng_msg_free(spare);
	}
	nng_socket socket = NNG_SOCKET_INITIALIZER;
	int readable = -1; // the socket's descriptor, for ICEPATH_WAIT_EPOLL
	nng_msg *spare = nullptr; // a received message, which the next send uses
	Connection connection;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const auto made = [](const char *name, const char *summary) {
		return relayed_target(name, summary, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, kLargest,
							  "icepath's own limit: a queue has at least two messages");
	};
	static const icepath_target targets[] = {
		made("nng/ipc", "pair0 sockets over a UNIX socket, each end with a poller and task threads"),
		made("nng/tcp", "pair0 sockets over TCP on 127.0.0.1, each end with a poller and task threads"),
	};
	return n < std::size(targets) ? &targets[n] : nullptr;
}

int failed(icepath_endpoint &end, const char *call, int error)
{
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, nng_strerror(error));
}

// Called by a library thread.
void note(nng_pipe, nng_pipe_ev event, void *told)
{
	auto *connection = static_cast<Connection *>(told);
	(event == NNG_PIPE_EV_ADD_POST ? connection->came : connection->went).store(true, std::memory_order_release);
}

int make_socket(icepath_endpoint &end, int queue)
{
	if (const int error = nng_pair0_open(&end.socket))
		return failed(end, "nng_pair0_open", error);
	for (const char *option : {NNG_OPT_SENDBUF, NNG_OPT_RECVBUF})
		if (const int error = nng_socket_set_int(end.socket, option, queue))
			return failed(end, "setting a queue's length", error);
	if (const int error = nng_socket_set_size(end.socket, NNG_OPT_RECVMAXSZ, end.payload_bytes))
		return failed(end, "setting the largest message", error);
	for (const nng_pipe_ev event : {NNG_PIPE_EV_ADD_POST, NNG_PIPE_EV_REM_POST})
		if (const int error = nng_pipe_notify(end.socket, event, note, &end.connection))
			return failed(end, "nng_pipe_notify", error);
	if (end.receives && end.wait == ICEPATH_WAIT_EPOLL)
		if (const int error = nng_socket_get_int(end.socket, NNG_OPT_RECVFD, &end.readable))
			return failed(end, "getting the descriptor to poll", error);
	return ICEPATH_OK;
}

// Side 0 listens, and passes its address on.
int listen_on(icepath_endpoint &end, const std::string &name)
{
	const bool is_tcp = std::strcmp(end.target, "nng/tcp") == 0;
	std::string where = is_tcp ? "tcp://127.0.0.1:0" : "ipc:///tmp/icepath-" + name;
	nng_listener listener;
	if (const int error = nng_listen(end.socket, where.c_str(), &listener, 0))
		return end.sentence.tell(ICEPATH_FAILED, "%s: nng_listen on %s failed: %s", end.target, where.c_str(),
								 nng_strerror(error));
	if (is_tcp) {
		int port = 0;
		if (const int error = nng_listener_get_int(listener, NNG_OPT_TCP_BOUND_PORT, &port))
			return failed(end, "getting the port", error);
		where = "tcp://127.0.0.1:" + std::to_string(port);
	}
	end.given.bytes_used =
		static_cast<uint32_t>(where.copy(reinterpret_cast<char *>(end.given.bytes), sizeof(end.given.bytes)));
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		const int status = make_socket(end, icepath::plugin_kit::queue_length(*how, kDefaultQueue));
		return status == ICEPATH_OK && end.side == 0 ? listen_on(end, how->name) : status;
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		if (peer->bytes_used == 0 || peer->bytes_used > sizeof(peer->bytes))
			return end->sentence.tell(ICEPATH_FAILED, "%s: the peer's address names no endpoint", end->target);
		const std::string where(reinterpret_cast<const char *>(peer->bytes), peer->bytes_used);
		if (const int error = nng_dial(end->socket, where.c_str(), nullptr, 0))
			return failed(*end, "nng_dial", error);
	}
	const uint64_t give_up_ns = icepath_now_ns() + kConnectMs * 1'000'000ull;
	while (!end->connection.came.load(std::memory_order_acquire)) {
		if (icepath_now_ns() > give_up_ns)
			return end->sentence.tell(ICEPATH_FAILED, "%s: the ends haven't shaken hands in %d ms", end->target,
									  kConnectMs);
		usleep(1000);
	}
	return ICEPATH_OK;
}

int closed(icepath_endpoint *end)
{
	return end->sentence.tell(ICEPATH_CLOSED, "the connection of %s has ended", end->target);
}

bool is_gone(const icepath_endpoint *end) { return end->connection.went.load(std::memory_order_relaxed); }

// The received message of the right length, or a new one; NULL on failure, with the sentence told.
nng_msg *message_of(icepath_endpoint &end, uint64_t bytes)
{
	nng_msg *made = std::exchange(end.spare, nullptr);
	const int error = made ? nng_msg_realloc(made, bytes) : nng_msg_alloc(&made, bytes);
	if (error == 0)
		return made;
	failed(end, "allocating a message", error);
	if (made)
		nng_msg_free(made);
	return nullptr;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 1;
	message->call_ns = message->publish_ns = 0;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	if (is_gone(end))
		return closed(end); // the socket's queue would still accept a few messages
	nng_msg *filled = message_of(*end, message->bytes);
	if (!filled)
		return ICEPATH_FAILED;
	std::memcpy(nng_msg_body(filled), message->data, message->bytes);
	message->call_ns = icepath_now_ns();
	const int error = nng_sendmsg(end->socket, filled, 0);
	message->return_ns = icepath_now_ns();
	if (error == 0)
		return ICEPATH_OK; // the library owns it now
	nng_msg_free(filled);
	return end->is_cancelled() ? end->end_of_cancelled() : failed(*end, "nng_sendmsg", error);
}

// Takes one message out of the library.
int take(icepath_endpoint *end, nng_msg **taken, icepath_recv &message)
{
	const bool sleeps_within = end->wait == ICEPATH_WAIT_BLOCK;
	while (!end->is_cancelled()) {
		if (!sleeps_within) {
			pollfd wait{end->readable, POLLIN, 0};
			if (poll(&wait, 1, -1) < 0) {
				if (errno == EINTR)
					continue;
				return end->failed("poll");
			}
			message.wait_return_ns = icepath_now_ns();
		}
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		const int error = nng_recvmsg(end->socket, taken, sleeps_within ? 0 : NNG_FLAG_NONBLOCK);
		message.take_return_ns = icepath_now_ns();
		if (error == 0)
			return ICEPATH_OK;
		if (error != NNG_EAGAIN && !end->is_cancelled())
			return failed(*end, "nng_recvmsg", error);
	}
	return end->end_of_cancelled();
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	nng_msg *taken = nullptr;
	if (const int status = take(end, &taken, *message); status != ICEPATH_OK)
		return status;
	message->bytes = std::min<uint64_t>(nng_msg_len(taken), message->capacity);
	std::memcpy(message->data, nng_msg_body(taken), message->bytes);
	if (end->spare)
		nng_msg_free(end->spare);
	end->spare = taken;
	return ICEPATH_OK;
}

const char *version()
{
	static const std::string text = std::string("nng ") + nng_version();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("nng", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.cancel = [](icepath_endpoint *end) {
			if (!end->cancelled.exchange(true, std::memory_order_relaxed))
				nng_close(end->socket);
		};
		return table;
	}();
	return &plugin;
}
