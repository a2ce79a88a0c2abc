// SPDX-License-Identifier: Apache-2.0
// ZeroMQ (libzmq), by its C API: a pair of PAIR sockets over a UNIX or a TCP socket, and messages that the library owns
// (zmq_msg_t).
//
// No message goes from thread to thread by itself. zmq_msg_send() puts it into a queue and wakes the sender's I/O thread
// by an eventfd if that sleeps; the I/O thread writes it to the socket; the receiver's I/O thread, asleep in epoll_wait(), reads
// it, puts it into the receiver's queue and wakes that thread by another eventfd. So there are three wake-ups on the way where
// nobody is busy, and two threads besides the application's. The bytes are copied at least four times: into the message before
// the sending call, into and out of the kernel, and out of the message after the receiving call.
//
// Both ends of a channel that are in one process share one context, as its makers advise, and with it its one I/O thread.
//
// Nothing is lost while both live: a queue that is at its high-water mark makes the sender wait. As a connection that ended is
// not made again and its queue goes with it (ZMQ_RECONNECT_IVL, ZMQ_IMMEDIATE), whoever sends to a dead peer waits too, and
// icepath's deadline ends that.
//
// A signal makes every waiting call of the library come back with EINTR, so cancel() only sets the flag.
#include <zmq.h>

#include <memory>
#include <mutex>
#include <string>

#include "middleware_adapters/queue_length.h"
#include "middleware_adapters/relayed_target.h"
#include "transports/plugin_table.h"

using namespace icepath::transports;

namespace {

constexpr uint64_t kLargest = 64 * 1024 * 1024;
constexpr uint64_t kLibrarysQueue = 1000; // messages: ZMQ_SNDHWM and ZMQ_RCVHWM
constexpr int kLingerMs = 100;
constexpr int kConnectMs = 5000;

// Of this process; the last endpoint ends it.
std::shared_ptr<void> shared_context()
{
	static std::mutex mutex;
	static std::weak_ptr<void> current;
	const std::lock_guard lock(mutex);
	std::shared_ptr<void> context = current.lock();
	if (!context) {
		if (void *made = zmq_ctx_new())
			context.reset(made, [](void *it) {
				while (zmq_ctx_term(it) && errno == EINTR)
					;
			});
		current = context;
	}
	return context;
}

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint()
	{
		if (socket)
			zmq_close(socket);
	}
	std::shared_ptr<void> context; // ends after the socket
	void *socket = nullptr;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const auto made = [](const char *name, const char *summary) {
		return relayed_target(name, summary, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, kLargest,
							  "icepath's own limit: a queue has at least two messages");
	};
	static const icepath_target targets[] = {
		made("zeromq/ipc", "PAIR sockets over a UNIX socket, each end with an I/O thread"),
		made("zeromq/tcp", "PAIR sockets over TCP on 127.0.0.1, each end with an I/O thread"),
	};
	return n < std::size(targets) ? &targets[n] : nullptr;
}

int failed(icepath_endpoint &end, const char *call)
{
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, zmq_strerror(zmq_errno()));
}

bool set(icepath_endpoint &end, int option, int value)
{
	return zmq_setsockopt(end.socket, option, &value, sizeof(value)) == 0;
}

int make_socket(icepath_endpoint &end, int queue)
{
	end.context = shared_context();
	if (!end.context)
		return failed(end, "zmq_ctx_new");
	end.socket = zmq_socket(end.context.get(), ZMQ_PAIR);
	if (!end.socket)
		return failed(end, "zmq_socket");
	if (!set(end, ZMQ_SNDHWM, queue) || !set(end, ZMQ_RCVHWM, queue) || !set(end, ZMQ_LINGER, kLingerMs) ||
		!set(end, ZMQ_IMMEDIATE, 1) || !set(end, ZMQ_RECONNECT_IVL, -1))
		return failed(end, "zmq_setsockopt");
	return ICEPATH_OK;
}

// Side 0 binds, and gives the address as the library tells it.
int bind_socket(icepath_endpoint &end, const std::string &name)
{
	const std::string where =
		std::strcmp(end.target, "zeromq/ipc") == 0 ? "ipc:///tmp/icepath-" + name : "tcp://127.0.0.1:*";
	if (zmq_bind(end.socket, where.c_str()))
		return end.sentence.tell(ICEPATH_FAILED, "%s: zmq_bind to %s failed: %s", end.target, where.c_str(),
								 zmq_strerror(zmq_errno()));
	size_t bytes = sizeof(end.given.bytes);
	if (zmq_getsockopt(end.socket, ZMQ_LAST_ENDPOINT, end.given.bytes, &bytes))
		return failed(end, "zmq_getsockopt(ZMQ_LAST_ENDPOINT)");
	end.given.bytes_used = static_cast<uint32_t>(bytes); // with the zero that ends it
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		const int status = make_socket(end, icepath::middleware::queue_length(*how, kLibrarysQueue));
		return status == ICEPATH_OK && end.side == 0 ? bind_socket(end, how->name) : status;
	});
}

// A socket has no queue to send to before the ends have shaken hands: once there is room, messages go.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		if (peer->bytes_used == 0 || peer->bytes_used > sizeof(peer->bytes) || peer->bytes[peer->bytes_used - 1] != 0)
			return end->sentence.tell(ICEPATH_FAILED, "%s: the peer doesn't tell where it listens", end->target);
		if (zmq_connect(end->socket, reinterpret_cast<const char *>(peer->bytes)))
			return failed(*end, "zmq_connect");
	}
	zmq_pollitem_t room{end->socket, 0, ZMQ_POLLOUT, 0};
	if (zmq_poll(&room, 1, kConnectMs) != 1)
		return end->sentence.tell(ICEPATH_FAILED, "%s: the ends haven't shaken hands in %d ms", end->target,
								  kConnectMs);
	return ICEPATH_OK;
}

// False: it was interrupted, or failed with errno set.
bool wait_for(icepath_endpoint *end, short event)
{
	zmq_pollitem_t wait{end->socket, 0, event, 0};
	return zmq_poll(&wait, 1, -1) >= 0;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const bool sleeps_within = end->wait == ICEPATH_WAIT_BLOCK;
	message->attempts = 0;
	message->call_ns = message->publish_ns = 0;
	zmq_msg_t filled;
	if (zmq_msg_init_size(&filled, message->bytes))
		return failed(*end, "zmq_msg_init_size");
	std::memcpy(zmq_msg_data(&filled), message->data, message->bytes);
	while (!end->is_cancelled()) {
		message->attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const int sent = zmq_msg_send(&filled, end->socket, sleeps_within ? 0 : ZMQ_DONTWAIT);
		message->return_ns = icepath_now_ns();
		if (message->call_ns == 0)
			message->call_ns = now_ns;
		if (sent >= 0)
			return ICEPATH_OK; // it is the library's now
		const bool is_full = zmq_errno() == EAGAIN && !sleeps_within;
		if ((is_full && wait_for(end, ZMQ_POLLOUT)) || zmq_errno() == EINTR)
			continue;
		const int status = failed(*end, is_full ? "zmq_poll" : "zmq_msg_send");
		zmq_msg_close(&filled);
		return status;
	}
	zmq_msg_close(&filled);
	return end->end_of_cancelled();
}

// Takes one message out of the library.
int take(icepath_endpoint *end, zmq_msg_t &taken, icepath_recv &message)
{
	const bool sleeps_within = end->wait == ICEPATH_WAIT_BLOCK;
	while (!end->is_cancelled()) {
		if (!sleeps_within) {
			if (!wait_for(end, ZMQ_POLLIN)) {
				if (zmq_errno() == EINTR)
					continue;
				return failed(*end, "zmq_poll");
			}
			message.wait_return_ns = icepath_now_ns();
		}
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		const int got = zmq_msg_recv(&taken, end->socket, sleeps_within ? 0 : ZMQ_DONTWAIT);
		message.take_return_ns = icepath_now_ns();
		if (got >= 0)
			return ICEPATH_OK;
		if (zmq_errno() != EAGAIN && zmq_errno() != EINTR)
			return failed(*end, "zmq_msg_recv");
	}
	return end->end_of_cancelled();
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	zmq_msg_t taken;
	zmq_msg_init(&taken);
	const int status = take(end, taken, *message);
	if (status == ICEPATH_OK) {
		message->bytes = std::min<uint64_t>(zmq_msg_size(&taken), message->capacity);
		std::memcpy(message->data, zmq_msg_data(&taken), message->bytes);
	}
	zmq_msg_close(&taken);
	return status;
}

const char *version()
{
	static const std::string text = [] {
		int major = 0, minor = 0, patch = 0;
		zmq_version(&major, &minor, &patch);
		return "ZeroMQ " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
	}();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("zeromq", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		return table;
	}();
	return &plugin;
}
