// SPDX-License-Identifier: Apache-2.0
// LCM (Lightweight Communications and Marshalling), with its C API and without its types: datagrams to a multicast
// group on the loopback device.
//
// lcm_publish() sends them in the sender's own thread, with 65487 bytes in each. A library thread of the receiver,
// asleep in select(), reads each one, reassembles longer messages, queues the message, and wakes the receiver by one
// byte in a pipe; lcm_handle() reads that byte and calls the subscription's function, which copies the message out.
// That is the receiver's own thread, so the library has no callbacks in a thread of its own. An end that both sends and
// receives also hears its own messages: its library's thread reads and discards them, which takes its CPU's time.
//
// Messages may be lost when the kernel's receive buffer is full, or the queue between that thread and the receiver. The
// library doesn't report that, nor whether a message of several datagrams was sent whole.
//
// By block, a receiver sleeps in lcm_handle(); the signal that comes with cancel() ends that, and the library reports
// its failure on stderr. By epoll, it sleeps in poll(2), and calls lcm_handle() then. Nothing reports the other end's
// death: a sender checks now and then.
#include <lcm/lcm.h>
#include <poll.h>

#include <string>

#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/loopback_address.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

constexpr const char *kGroup = "239.255.76.67"; // the library's default
constexpr uint64_t kLibrarysQueue = 30; // messages
constexpr uint64_t kDatagram = 65487; // of a message and its channel's name

// In the network that the two ends of a channel share with no other.
const char *name_from(uint32_t side) { return side == 0 ? "forth" : "back"; }

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint()
	{
		if (lcm)
			lcm_destroy(lcm);
		close_all({reserved});
	}
	lcm_t *lcm = nullptr;
	int queue = 0; // messages
	int reserved = -1; // a socket that keeps the port from other channels; side 0's
	int readable = -1; // the library's pipe
	icepath_recv *taking = nullptr; // during lcm_handle(): where the message goes
	DeathWatch watch;
};

namespace {

// All datagrams of a message must find room before one is read; in a ping-pong, so must those that the receiver itself
// has just sent. Each is charged twice its size, and the limit is doubled too (SO_RCVBUF).
const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		static char why[160];
		const uint64_t datagrams = std::max<uint64_t>(2, icepath::plugin_kit::receive_buffer() / 65536);
		std::snprintf(
			why, sizeof(why),
			"/proc/sys/net/core/rmem_max lets the receive buffer hold %llu datagrams, half of them the peer's",
			static_cast<unsigned long long>(datagrams));
		icepath_target it = relayed_target(
			"lcm", "datagrams to a multicast group on the loopback device, read by a thread of the library",
			ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_EPOLL, datagrams * kDatagram / 2 - sizeof("forth"), why);
		it.capabilities |= ICEPATH_IS_LOSSY;
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

// Called by lcm_handle().
void copy_out(const lcm_recv_buf_t *from, const char *, void *to)
{
	icepath_recv *&message = static_cast<icepath_endpoint *>(to)->taking;
	message->bytes = std::min<uint64_t>(from->data_size, message->capacity);
	std::memcpy(message->data, from->data, message->bytes);
	message = nullptr;
}

// A receiver is in the group once it has subscribed.
int join(icepath_endpoint &end, const sockaddr_in &where)
{
	const std::string network = std::string("udpm://") + kGroup + ":" + std::to_string(ntohs(where.sin_port)) +
								"?ttl=0&recv_buf_size=" + std::to_string(icepath::plugin_kit::receive_buffer());
	end.lcm = lcm_create(network.c_str());
	if (!end.lcm)
		return end.sentence.tell(ICEPATH_FAILED, "lcm: lcm_create with %s failed", network.c_str());
	if (!end.receives)
		return ICEPATH_OK;
	lcm_subscription_t *subscribed = lcm_subscribe(end.lcm, name_from(1 - end.side), copy_out, &end);
	end.readable = lcm_get_fileno(end.lcm);
	if (!subscribed || end.readable < 0 || lcm_subscription_set_queue_capacity(subscribed, end.queue) != 0)
		return end.sentence.tell(ICEPATH_FAILED, "lcm: lcm_subscribe to %s failed", network.c_str());
	return ICEPATH_OK;
}

// Side 0 chooses a port, and passes it on.
int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		end.queue = icepath::plugin_kit::queue_length(*how, kLibrarysQueue);
		if (end.side == 1)
			return ICEPATH_OK;
		end.reserved = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		sockaddr_in where{};
		// Other channels can't get the port, because they don't ask to share it; the library's sockets do.
		const int on = 1;
		if (end.reserved < 0 || !bind_to_loopback(end.reserved, end.given) || !read_address(end.given, where) ||
			setsockopt(end.reserved, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
			return end.failed("choosing a port");
		return join(end, where);
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK || end->side == 0)
		return status;
	sockaddr_in where{};
	if (!read_address(*peer, where))
		return end->sentence.tell(ICEPATH_FAILED, "lcm: the peer's address has no port");
	return join(*end, where);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (end->is_cancelled())
		return end->end_of_cancelled();
	message->attempts = 1;
	message->publish_ns = 0;
	message->call_ns = icepath_now_ns();
	const int status =
		lcm_publish(end->lcm, name_from(end->side), message->data, static_cast<unsigned>(message->bytes));
	message->return_ns = icepath_now_ns();
	if (status != 0)
		return end->is_cancelled() ? end->end_of_cancelled() : end->failed("lcm_publish");
	return end->watch.look(*end, message->return_ns);
}

// False: a signal came, or poll() failed otherwise.
bool await_readable(icepath_endpoint &end, icepath_recv &message)
{
	pollfd wait{end.readable, POLLIN, 0};
	if (poll(&wait, 1, -1) != 1)
		return false;
	message.wait_return_ns = icepath_now_ns();
	return true;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	end->taking = message;
	while (!end->is_cancelled()) {
		if (end->wait == ICEPATH_WAIT_EPOLL && !await_readable(*end, *message)) {
			if (errno == EINTR)
				continue;
			return end->failed("poll");
		}
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		const int status = lcm_handle(end->lcm);
		message->take_return_ns = icepath_now_ns();
		if (status != 0 && !end->is_cancelled())
			return end->failed("lcm_handle");
		if (!end->taking)
			return ICEPATH_OK;
	}
	return end->end_of_cancelled();
}

const char *version()
{
	static const std::string text = "LCM " + std::to_string(LCM_MAJOR_VERSION) + "." +
									std::to_string(LCM_MINOR_VERSION) + "." + std::to_string(LCM_MICRO_VERSION);
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("lcm", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		return table;
	}();
	return &plugin;
}
