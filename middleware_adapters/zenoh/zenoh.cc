// SPDX-License-Identifier: Apache-2.0
// Zenoh: a publisher and a subscriber for each direction, in two sessions that are peers without a router: side 0
// listens, side 1 connects to it, and neither looks for others. A put() serialises the message into a batch and wakes
// the library's thread tx-0, which writes it to the connection. At the receiver, a thread of the runtime that made the
// connection sleeps in epoll_wait(): acc-0 if it listens, net-0 if it connects. It wakes rx-0 or rx-1, which reads the
// message, puts it into the subscriber's channel (FifoChannel), and wakes the receiver there. By callback, the side
// handles the message in that rx thread, and may publish there, as the library's example z_pong does.
//
// zenoh/tcp-low-latency: put() writes the message to the connection in the sender's thread. That transport has neither
// batches nor priorities, and sends no message in parts.
//
// Congestion control is `Block`: put() waits for room in the batches, and an rx thread for room in the channel. But the
// library closes a connection that gave no room for 5 s (wait_before_close), such as that of a slow receiver. So there
// is a window (send_window.h) that fits the channel. A publisher without any match reveals a lost connection.
//
// cancel() ends the subscription, and the call that sleeps for its messages returns.
#include <cstring>
#include <memory>

#include "middleware_adapters/zenoh/shim.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 16 * 1024 * 1024;
constexpr uint64_t kLargestWhole = 32 * 1024; // it must fit a batch, and 63 KiB didn't arrive
constexpr const char *kTcp = "zenoh/tcp", *kExpress = "zenoh/tcp-express", *kLowLatency = "zenoh/tcp-low-latency",
					 *kUnix = "zenoh/unixsock-stream";

icepath_target described(const char *name, const char *summary, uint64_t largest = kLargest,
						 const char *why = "icepath's own limit: a window has at least two messages")
{
	return relayed_target(name, summary, ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK, largest, why);
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target targets[] = {
		described(kTcp, "publisher and subscriber of two peers, over TCP on a loopback address"),
		described(kExpress, "as zenoh/tcp, with a publisher that asks for no batching (express)"),
		described(kLowLatency, "as zenoh/tcp, by the low-latency transport: the sender's thread writes", kLargestWhole,
				  "icepath's own limit: Zenoh's low-latency transport sends no message in parts"),
		described(kUnix, "publisher and subscriber of two peers, over a UNIX socket"),
	};
	return n < std::size(targets) ? &targets[n] : nullptr;
}

struct FreeEnd {
	void operator()(ZenohEnd *end) const { zenoh_end_free(end); }
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : WindowedEnd(how, what), handler(how) {}
	const Handler handler;
	std::unique_ptr<ZenohEnd, FreeEnd> zenoh;
	std::atomic<bool> asking{false}; // inside recv()
	char why[kShimWhyBytes] = "";

	bool is(const char *name) const { return std::strcmp(target, name) == 0; }
	int failed_in_library() { return sentence.tell(ICEPATH_FAILED, "%s: Zenoh failed: %s", target, why); }
};

namespace {

// An address of 127.0.0.0/8 that no other process has, and a port that no other channel of this process has.
std::string new_tcp_address()
{
	static std::atomic<unsigned> channels{0};
	const auto pid = static_cast<unsigned>(getpid());
	char text[48];
	std::snprintf(text, sizeof(text), "tcp/127.%u.%u.%u:%u", pid >> 16 & 255, pid >> 8 & 255, pid & 255,
				  7447 + channels++ % 8192);
	return text;
}

// What side 0 passes to side 1: the channel's name, and its listening address.
std::string new_meeting(const icepath_endpoint &end)
{
	const std::string channel = new_channel();
	return channel + " " + (end.is(kUnix) ? "unixsock-stream//tmp/icepath-zenoh-" + channel : new_tcp_address());
}

std::string config_of(const icepath_endpoint &end, const std::string &where)
{
	const std::string none = "[]", there = "['" + where + "']";
	const std::string unicast = end.is(kLowLatency) ? "{lowlatency: true, qos: {enabled: false}}" : "{}";
	return "{mode: 'peer', scouting: {multicast: {enabled: false}, gossip: {enabled: false}}, transport: {unicast: " +
		   unicast + "}, listen: {endpoints: " + (end.side == 0 ? there : none) +
		   "}, connect: {endpoints: " + (end.side == 1 ? there : none) + "}}";
}

// Called in the library's thread.
void handle(void *called, const void *data, uint64_t bytes)
{
	const uint64_t called_ns = icepath_now_ns();
	auto *end = static_cast<icepath_endpoint *>(called);
	end->handler.take(called_ns, const_cast<void *>(data), bytes);
	end->tell_of_room();
}

int join(icepath_endpoint &end, const std::string &meeting)
{
	const size_t gap = meeting.find(' ');
	const std::string channel = meeting.substr(0, gap), config = config_of(end, meeting.substr(gap + 1));
	ZenohWanted wanted{config.c_str(), channel.c_str(),  end.side,  end.sends,
					   end.receives,   end.is(kExpress), end.window};
	wanted.handle = end.handler.is_used() ? handle : nullptr;
	wanted.end = &end;
	end.zenoh.reset(zenoh_end_make(&wanted, end.why));
	return end.zenoh ? ICEPATH_OK : end.failed_in_library();
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		if (const int status = set_up_memory(end); status != ICEPATH_OK || end.side == 1)
			return status;
		const std::string meeting = new_meeting(end);
		give_text(end, meeting);
		return join(end, meeting);
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	return icepath::plugin_kit::connect_discovered(*end, *peer, join,
												   [end] { return zenoh_is_matched(end->zenoh.get()); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const ShimStatus put = zenoh_put(end->zenoh.get(), message->data, message->bytes, end->why);
	message->return_ns = icepath_now_ns();
	if (put != kShimDone)
		return end->failed_in_library();
	if (!zenoh_is_matched(end->zenoh.get()))
		return end->sentence.tell(ICEPATH_CLOSED, "the connection of %s has ended", end->target);
	return end->end_of_send(message->return_ns);
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	end->asking = !end->handler.is_used();
	if (end->cancelled || end->handler.is_used())
		return end->end_of_cancelled();
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	const ShimStatus taken = zenoh_take(end->zenoh.get(), &message->bytes, end->why);
	message->take_return_ns = icepath_now_ns();
	end->asking = false;
	if (taken != kShimDone)
		return taken == kShimNothing ? end->end_of_cancelled() : end->failed_in_library();
	message->bytes = std::min(message->bytes, message->capacity);
	if (zenoh_read(end->zenoh.get(), message->data, message->bytes, end->why) != kShimDone)
		return end->failed_in_library();
	end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	if (end->asking)
		zenoh_stop(end->zenoh.get());
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("zenoh", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "Zenoh " ZENOH_VERSION;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
