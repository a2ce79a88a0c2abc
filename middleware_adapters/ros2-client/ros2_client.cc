// SPDX-License-Identifier: Apache-2.0
// ros2-client, ROS 2 in Rust without ROS 2's own libraries: a node with a publisher and a subscription of
// std_msgs/UInt8MultiArray, reliable. Beneath it is RustDDS, which speaks RTPS over UDP on the loopback device, like
// every implementation of ROS 2 over DDS. publish() serialises the message into the writer's history and wakes the
// participant's event loop through an eventfd; that thread sends it. The receiver's participant has such a thread too,
// asleep in epoll_wait(): it reads the message into the reader's history and wakes the receiver, which runs
// async_take() in block_on() and deserialises it there. A node needs a spinning thread, which learns of other nodes
// ("ros2 spinner"); no message passes through it.
//
// A topic keeps its last n messages, reliable or not, and drops older ones before its receiver has seen them: so there
// is a window (send_window.h). It holds no more than a socket has room for, because lost datagrams take long to be
// resent. publish() waits for room for a tenth of a second at a time.
//
// cancel() completes the future that async_take() is raced against.
#include <memory>

#include "middleware_adapters/ros2-client/shim.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/loopback_address.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 4 * 1024 * 1024;

// Of RustDDS's sockets.
uint64_t socket_bytes() { return std::min<uint64_t>(8 * 1024 * 1024, icepath::plugin_kit::receive_buffer()); }

const icepath_target *target(uint32_t n)
{
	static const icepath_target only = relayed_target(
		"ros2-client", "a topic of ROS 2 by ros2-client and RustDDS, reliable, over UDP", ICEPATH_WAIT_BLOCK,
		std::min(kLargest, socket_bytes() / 2),
		"a socket should hold two messages (net.core.rmem_max): what it has no room for comes again by 8 KiB in 10 ms");
	return n == 0 ? &only : nullptr;
}

struct FreeEnd {
	void operator()(Ros2End *end) const { ros2_end_free(end); }
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what, std::clamp<uint64_t>(socket_bytes() / how.payload_bytes, 2, kLongestWindow))
	{}
	std::unique_ptr<Ros2End, FreeEnd> ros;
	std::atomic<bool> asking{false}; // inside recv()
	char why[kShimWhyBytes] = "";

	int failed_in_library() { return sentence.tell(ICEPATH_FAILED, "%s: ros2-client failed: %s", target, why); }
};

namespace {

int join(icepath_endpoint &end, const std::string &channel)
{
	std::string name = channel;
	std::ranges::replace(name, '-', '_');
	const auto domain = static_cast<uint16_t>(icepath::plugin_kit::dds_domain_of(channel));
	const Ros2Wanted wanted{domain, name.c_str(), end.side, end.sends, end.receives, end.window};
	end.ros.reset(ros2_end_make(&wanted, end.why));
	return end.ros ? ICEPATH_OK : end.failed_in_library();
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	return icepath::plugin_kit::connect_discovered(*end, *peer, join,
												   [end] { return ros2_is_matched(end->ros.get()); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	if (ros2_fill(end->ros.get(), message->data, message->bytes, end->why) != kShimDone)
		return end->failed_in_library();
	message->attempts = 0;
	message->call_ns = icepath_now_ns();
	for (;;) {
		message->attempts++;
		const ShimStatus published = ros2_publish(end->ros.get(), end->why);
		message->return_ns = icepath_now_ns();
		if (published == kShimDone)
			return end->end_of_send(message->return_ns);
		if (published == kShimFailed)
			return end->failed_in_library();
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (const int status = end->watch.look(*end, message->return_ns); status != ICEPATH_OK)
			return status;
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	end->asking = true;
	if (end->cancelled)
		return end->end_of_cancelled();
	const void *data = nullptr;
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	const ShimStatus taken = ros2_take(end->ros.get(), &data, &message->bytes, end->why);
	message->take_return_ns = icepath_now_ns();
	end->asking = false;
	if (taken != kShimDone)
		return taken == kShimNothing ? end->end_of_cancelled() : end->failed_in_library();
	message->bytes = std::min(message->bytes, message->capacity);
	std::memcpy(message->data, data, message->bytes);
	end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	if (end->asking)
		ros2_stop(end->ros.get());
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("ros2-client", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "ros2-client " ROS2_CLIENT_VERSION;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
