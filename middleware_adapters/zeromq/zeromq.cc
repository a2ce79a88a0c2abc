// SPDX-License-Identifier: Apache-2.0
// ZeroMQ (libzmq), with its C API, and messages that the library owns (zmq_msg_t).
//
// zeromq/ipc, zeromq/tcp: a pair of PAIR sockets over a UNIX or a TCP socket. zmq_msg_send() queues the message and
// wakes the sender's I/O thread through an eventfd if that sleeps. The I/O thread writes it to the socket; the
// receiver's I/O thread, asleep in epoll_wait(), reads it, queues it and wakes the receiver through another eventfd. So
// an idle path has three wake-ups, and two threads besides the application's. The bytes are copied at least four times:
// into the message before the sending call, into and out of the kernel, and out of the message after the receiving
// call.
//
// zeromq/inproc: PAIR sockets of one context, and so of one process. The sender puts the message straight into the
// peer's queue and wakes it through its eventfd; no other thread takes part, and the only copies are into the message
// and out of it.
//
// zeromq/reqrep: REQ at side 0, REP at side 1, whose turns must alternate: a request, its reply, a request. Messages to
// side 1 are requests, messages to side 0 are replies. If a side has no message in its turn, an empty one goes instead:
// the answer to the last request, when the next is wanted, and the request for another reply.
//
// zeromq/pubsub: an XPUB socket for each sending end, and a SUB socket of its peer. XPUB reports the subscription,
// before which published messages are lost, and waits for room where PUB would drop (ZMQ_XPUB_NODROP). Without a
// subscriber it drops all the same, so the sender watches for the peer's death. zmq_poll() on it always reports room,
// so only `block` is offered.
//
// Both ends of a channel in one process share one context, as its makers advise, and with it its one I/O thread.
//
// Nothing is lost while both live: a queue at its high-water mark makes the sender wait. A connection that ended isn't
// remade and its queue goes with it (ZMQ_RECONNECT_IVL, ZMQ_IMMEDIATE), so a sender to a dead peer waits too, until
// icepath's deadline.
//
// A signal makes every waiting library call return EINTR, so cancel() only sets the flag.
#include <algorithm>
#include <string>

#include "middleware_adapters/zeromq/socket.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;
using icepath::plugin_kit::Option;
using icepath::plugin_kit::set_value;
using icepath::plugin_kit::Socket;
using icepath::plugin_kit::value_of;

namespace {

constexpr uint64_t kLargest = 64 * 1024 * 1024;
constexpr uint64_t kLibrarysQueue = 1000; // messages: ZMQ_SNDHWM and ZMQ_RCVHWM
constexpr int kLingerMs = 100;
constexpr int kConnectMs = 5000;

enum class Pattern { Pair, ReqRep, PubSub };

struct Variant {
	const char *name, *summary, *transport;
	Pattern pattern;
	uint32_t waits, capabilities;
};
constexpr Variant kVariants[] = {
	{"zeromq/ipc", "PAIR sockets over a UNIX socket, each process with an I/O thread", "ipc:///tmp/icepath-",
	 Pattern::Pair, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, 0},
	{"zeromq/tcp", "PAIR sockets over TCP on 127.0.0.1, each process with an I/O thread", "tcp://127.0.0.1:*",
	 Pattern::Pair, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, 0},
	{"zeromq/inproc", "PAIR sockets of one context, whose queues are in memory", "inproc://", Pattern::Pair,
	 ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, ICEPATH_WITHIN_PROCESS},
	{"zeromq/reqrep", "REQ and REP sockets over a UNIX socket: requests there, replies back", "ipc:///tmp/icepath-",
	 Pattern::ReqRep, ICEPATH_WAIT_BLOCK, ICEPATH_HAS_TURNS},
	{"zeromq/pubsub", "XPUB and SUB sockets over a UNIX socket, published once there is room", "ipc:///tmp/icepath-",
	 Pattern::PubSub, ICEPATH_WAIT_BLOCK, 0},
};

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	bool is(Pattern pattern) const { return variant->pattern == pattern; }
	bool binds() const { return is(Pattern::PubSub) ? sends : side == (is(Pattern::ReqRep) ? 1 : 0); }
	bool connects() const { return is(Pattern::PubSub) ? receives : !binds(); }

	const Variant *variant = nullptr;
	std::string where; // the address that this end binds
	Socket first, second;
	Socket *out = &first, *in = &first; // PubSub: in = &second
	bool has_turn = false; // ReqRep: the next message is this side's
	bool has_subscriber = false; // PubSub
	DeathWatch watch; // PubSub
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const std::vector<icepath_target> all = [] {
		std::vector<icepath_target> targets;
		for (const Variant &variant : kVariants) {
			icepath_target it = relayed_target(variant.name, variant.summary, variant.waits, kLargest,
											   "icepath's own limit: a queue has at least two messages");
			it.capabilities |= variant.capabilities;
			it.qos = variant.pattern == Pattern::ReqRep ? 0 : 1u << ICEPATH_QOS_DEPTH;
			if (variant.capabilities & ICEPATH_WITHIN_PROCESS)
				it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
			targets.push_back(it);
		}
		return targets;
	}();
	return n < all.size() ? &all[n] : nullptr;
}

int failed(icepath_endpoint &end, const char *call)
{
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, zmq_strerror(zmq_errno()));
}

int make_sockets(icepath_endpoint &end, int queue)
{
	const auto made = [&](Socket &socket, int type, Option option) {
		const char *failure = socket.make(
			type, {{ZMQ_SNDHWM, queue}, {ZMQ_RCVHWM, queue}, {ZMQ_LINGER, kLingerMs}, {ZMQ_RECONNECT_IVL, -1}, option});
		return failure ? failed(end, failure) : ICEPATH_OK;
	};
	constexpr Option kOnlyToWhoIsThere = {ZMQ_IMMEDIATE, 1};
	switch (end.variant->pattern) {
	case Pattern::Pair:
		return made(end.first, ZMQ_PAIR, kOnlyToWhoIsThere);
	case Pattern::ReqRep:
		end.has_turn = end.side == 0;
		return made(end.first, end.side == 0 ? ZMQ_REQ : ZMQ_REP, kOnlyToWhoIsThere);
	case Pattern::PubSub:
		break;
	}
	end.in = &end.second;
	int status = end.sends ? made(end.first, ZMQ_XPUB, {ZMQ_XPUB_NODROP, 1}) : ICEPATH_OK;
	// With ZMQ_IMMEDIATE 1, the subscription would wait for its peer, and go only in this thread's next call.
	if (status == ICEPATH_OK && end.receives)
		status = made(end.second, ZMQ_SUB, {ZMQ_IMMEDIATE, 0});
	if (status == ICEPATH_OK && end.receives && zmq_setsockopt(end.second.get(), ZMQ_SUBSCRIBE, "", 0))
		status = failed(end, "zmq_setsockopt(ZMQ_SUBSCRIBE)");
	return status;
}

std::string address_of(const icepath_endpoint &end, const std::string &channel)
{
	if (end.variant->capabilities & ICEPATH_WITHIN_PROCESS)
		return end.variant->transport + channel + "-" + std::to_string(getpid());
	const std::string transport = end.variant->transport;
	return transport.ends_with('*') ? transport : transport + channel + "-" + std::to_string(end.side);
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		end.variant = std::ranges::find_if(kVariants, [&](const Variant &it) { return it.name == end.target; });
		end.where = address_of(end, how->name);
		icepath_open wish = *how;
		if (const auto depth = value_of(how->qos, ICEPATH_QOS_DEPTH))
			wish.depth = static_cast<uint32_t>(std::min<uint64_t>(*depth, UINT32_MAX));
		if (const int status = make_sockets(end, icepath::plugin_kit::queue_length(wish, kLibrarysQueue));
			status != ICEPATH_OK || !end.binds())
			return status;
		const char *failure = end.out->bind(end.where, end.given);
		return failure ? failed(end, failure) : ICEPATH_OK;
	});
}

int connect_socket(icepath_endpoint &end, const icepath_address &peer)
{
	if (peer.bytes_used == 0 || peer.bytes_used > sizeof(peer.bytes) || peer.bytes[peer.bytes_used - 1] != 0)
		return end.sentence.tell(ICEPATH_FAILED, "%s: the peer's address names no endpoint", end.target);
	const auto *where = reinterpret_cast<const char *>(peer.bytes);
	if ((end.variant->capabilities & ICEPATH_WITHIN_PROCESS) && end.where != where)
		return end.sentence.tell(ICEPATH_FAILED, "%s goes only within one process, and its peer is in another",
								 end.target);
	return zmq_connect(end.in->get(), where) ? failed(end, "zmq_connect") : ICEPATH_OK;
}

// The sign that messages will flow: room, because a socket has no queue to send to before the handshake; for PubSub,
// the subscription, which stays in the socket unread.
bool await_peer(icepath_endpoint &end, int limit_ms)
{
	return end.out->await(end.is(Pattern::PubSub) ? ZMQ_POLLIN : ZMQ_POLLOUT, limit_ms);
}

// Side 0 connects last. Side 1 of PubSub awaits its subscriber before it sends, because there is none yet.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	int status = end->meet(*peer, 0);
	if (status == ICEPATH_OK && end->connects())
		status = connect_socket(*end, *peer);
	if (status != ICEPATH_OK || (end->side == 1 && !end->is(Pattern::Pair)))
		return status;
	if (!await_peer(*end, kConnectMs))
		return end->sentence.tell(ICEPATH_FAILED, "%s: the ends haven't shaken hands in %d ms", end->target,
								  kConnectMs);
	end->has_subscriber = true;
	return ICEPATH_OK;
}

// Makes a call, and sleeps again after a signal.
template <class Call> int finish(icepath_endpoint &end, const char *what, Call call)
{
	while (!end.is_cancelled()) {
		if (call() >= 0)
			return ICEPATH_OK;
		if (zmq_errno() != EINTR)
			return failed(end, what);
	}
	return end.end_of_cancelled();
}

int before_send(icepath_endpoint &end)
{
	if (end.is(Pattern::ReqRep) && !end.has_turn)
		return finish(end, "zmq_recv", [&] { return zmq_recv(end.in->get(), nullptr, 0, 0); });
	if (end.is(Pattern::PubSub) && !end.has_subscriber) {
		const int status = finish(end, "zmq_poll", [&] { return await_peer(end, -1) ? 0 : -1; });
		end.has_subscriber = status == ICEPATH_OK;
		return status;
	}
	return ICEPATH_OK;
}

int put(icepath_endpoint &end, zmq_msg_t &filled, icepath_send &message)
{
	const bool sleeps_within = end.wait == ICEPATH_WAIT_BLOCK;
	while (!end.is_cancelled()) {
		message.attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const int sent = zmq_msg_send(&filled, end.out->get(), sleeps_within ? 0 : ZMQ_DONTWAIT);
		message.return_ns = icepath_now_ns();
		if (message.call_ns == 0)
			message.call_ns = now_ns;
		if (sent >= 0)
			return ICEPATH_OK; // the library owns it now
		const bool is_full = zmq_errno() == EAGAIN && !sleeps_within;
		if ((is_full && end.out->await(ZMQ_POLLOUT, -1)) || zmq_errno() == EINTR)
			continue;
		return failed(end, is_full ? "zmq_poll" : "zmq_msg_send");
	}
	return end.end_of_cancelled();
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 0;
	message->call_ns = message->publish_ns = 0;
	if (const int status = before_send(*end); status != ICEPATH_OK)
		return status;
	zmq_msg_t filled;
	if (zmq_msg_init_size(&filled, message->bytes))
		return failed(*end, "zmq_msg_init_size");
	std::memcpy(zmq_msg_data(&filled), message->data, message->bytes);
	const int status = put(*end, filled, *message);
	if (status != ICEPATH_OK) {
		zmq_msg_close(&filled);
		return status;
	}
	end->has_turn = false;
	return end->is(Pattern::PubSub) ? end->watch.look(*end, message->return_ns) : ICEPATH_OK;
}

// Takes one message out of the library.
int take(icepath_endpoint *end, zmq_msg_t &taken, icepath_recv &message)
{
	const bool sleeps_within = end->wait == ICEPATH_WAIT_BLOCK;
	while (!end->is_cancelled()) {
		if (!sleeps_within) {
			if (!end->in->await(ZMQ_POLLIN, -1)) {
				if (zmq_errno() == EINTR)
					continue;
				return failed(*end, "zmq_poll");
			}
			message.wait_return_ns = icepath_now_ns();
		}
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		const int got = zmq_msg_recv(&taken, end->in->get(), sleeps_within ? 0 : ZMQ_DONTWAIT);
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
	int status = end->begin(*message);
	if (status == ICEPATH_OK && end->is(Pattern::ReqRep) && end->has_turn)
		status = finish(*end, "zmq_send", [&] { return zmq_send(end->out->get(), nullptr, 0, 0); });
	if (status != ICEPATH_OK)
		return status;
	zmq_msg_t taken;
	zmq_msg_init(&taken);
	status = take(end, taken, *message);
	if (status == ICEPATH_OK) {
		end->has_turn = true;
		message->bytes = std::min<uint64_t>(zmq_msg_size(&taken), message->capacity);
		std::memcpy(message->data, zmq_msg_data(&taken), message->bytes);
	}
	zmq_msg_close(&taken);
	return status;
}

// The high-water mark of an end, at which the sender waits.
void granted(const icepath_endpoint *end, icepath_qos *qos)
{
	int mark = 0;
	size_t bytes = sizeof(mark);
	void *socket = (end->receives ? end->in : end->out)->get();
	if (!end->is(Pattern::ReqRep) &&
		zmq_getsockopt(socket, end->receives ? ZMQ_RCVHWM : ZMQ_SNDHWM, &mark, &bytes) == 0)
		set_value(*qos, ICEPATH_QOS_DEPTH, static_cast<uint64_t>(mark));
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const std::string version = icepath::plugin_kit::library_version();
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("zeromq", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version.c_str();
		table.granted = granted;
		return table;
	}();
	return &plugin;
}
