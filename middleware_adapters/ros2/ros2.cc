// SPDX-License-Identifier: Apache-2.0
// ROS 2 with rclcpp, and the RMW that the environment names: a topic of std_msgs/UInt8MultiArray. publish() serializes
// the message and has the RMW send it in the sender's thread. A thread of the RMW in the receiver's process takes it
// from the network and triggers the wait set of the sleeping thread:
//
//  - ros2/single, ros2/static: the receiver, in spin_once() of its executor, which then takes the message and calls
//    back. The former collects its wait set anew in each wait, and each callback makes it wait once more for nothing
//    (by its guard condition).
//  - ros2/multi: one of an executor's two threads, in spin(). The callback puts the message into a queue of the
//    adapter's, and wakes the receiver: recv() has to return, and spin() doesn't.
//  - ros2/waitset: the receiver, in an rclcpp::WaitSet, which then takes the message itself.
//  - ros2/intra: intra-process communication. The sender's thread puts the message's pointer into a buffer of the
//    subscription, and triggers the receiver's wait set itself; the RMW provides only wait sets, and nothing is copied.
//
// By callback, the three executors are in spin(), in a thread that the adapter starts ("spin"), where a program with a
// node has its main thread. ros2/multi has two, and the node's default callback group lets one of them call back at a
// time. The side handles the message in the subscription's callback, and may publish there, as nodes do: neither
// publish() nor the RMW's threads wait for a thread that spins. The executor takes the message before it calls back.
//
// The sender has a window (send_window.h): a reliable publisher may wait forever for its subscription, and a
// subscription that keeps all has no limit. With a quality of service that may lose messages there is no window.
//
// cancel() triggers a guard condition, the executor's by its cancel() or one in the wait set; or it rings as the
// callback does. ROS 2 doesn't report a peer's death: here the process is watched.
#include <rclcpp/rclcpp.hpp>

#include "middleware_adapters/ros2/node.h"
#include "middleware_adapters/ros2/qos.h"
#include "middleware_adapters/ros2/taking.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr const char *kSingle = "ros2/single", *kStatic = "ros2/static", *kMulti = "ros2/multi",
					 *kWaitSet = "ros2/waitset", *kIntra = "ros2/intra";
constexpr uint64_t kLargest = 4 * 1024 * 1024;
// As the RMW sets it up, but for the watermark: a publisher waits while more bytes than that are unacknowledged, and
// learns of a peer's death only after 10 s. A window has fewer. Only discovery uses multicast.
constexpr const char *kCycloneDds = R"(<CycloneDDS><Domain>
<General><AllowMulticast>spdp</AllowMulticast></General>
<Internal><Watermarks><WhcHigh>16MB</WhcHigh><WhcHighInit>16MB</WhcHighInit></Watermarks></Internal>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";

bool may_lose(const icepath_qos &asked)
{
	return value_of(asked, ICEPATH_QOS_RELIABILITY) == ICEPATH_BEST_EFFORT ||
		   value_of(asked, ICEPATH_QOS_HISTORY) == ICEPATH_KEEP_LAST ||
		   value_of(asked, ICEPATH_QOS_LIFESPAN).value_or(ICEPATH_QOS_INFINITE) != ICEPATH_QOS_INFINITE;
}

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what), asked(how.answers == 1 && how.peers <= 1 ? qos_where_answered(how) : how.qos),
		  has_window(!may_lose(how.qos)), handler(how)
	{}
	bool is(const char *name) const { return std::strcmp(target, name) == 0; }

	const icepath_qos asked; // with several answers all are kept, since an executor takes them later than they come
	const bool has_window;
	const Handler handler;
	rclcpp::Node::SharedPtr node;
	rclcpp::Publisher<Message>::SharedPtr publisher;
	rclcpp::Subscription<Message>::SharedPtr subscription;
	Message outgoing;
	Message::UniquePtr lent; // ros2/intra: to be sent
	std::unique_ptr<Taking> taking; // ends before what calls it back, and what its thread uses
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const auto made = [](const char *name, const char *summary, uint32_t wait) {
		icepath_target it = relayed_target(name, summary, wait, kLargest,
										   "icepath's own limit: a window has room for two messages of 4 MiB");
		it.qos = kEveryPolicy & ~(1u << ICEPATH_QOS_LIVELINESS); // ROS 2 has no manual-by-participant
		it.why_not = why_no_rmw();
		return it;
	};
	static const icepath_target targets[] = {
		made(kSingle, "a ROS 2 topic, taken by a SingleThreadedExecutor", ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK),
		made(kStatic, "a ROS 2 topic, taken by a StaticSingleThreadedExecutor",
			 ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_CALLBACK),
		made(
			kMulti,
			"a ROS 2 topic, taken by a MultiThreadedExecutor's threads, which wake the receiver, or handle the message",
			ICEPATH_WAIT_EPOLL | ICEPATH_WAIT_CALLBACK),
		made(kWaitSet, "a ROS 2 topic, taken by the receiver itself after an rclcpp::WaitSet", ICEPATH_WAIT_EPOLL),
		[] {
			icepath_target it =
				made(kIntra, "a ROS 2 topic by intra-process communication: a message is handed over by its pointer",
					 ICEPATH_WAIT_BLOCK);
			it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
			it.capabilities |= ICEPATH_CAN_LOAN | ICEPATH_WITHIN_PROCESS;
			it.qos = 0;
			return it;
		}(),
	};
	return n < std::size(targets) ? &targets[n] : nullptr;
}

std::unique_ptr<rclcpp::Executor> executor_of(const icepath_endpoint &end)
{
	constexpr size_t kThreads = 2; // the default is one per CPU
	if (end.is(kStatic))
		return make_executor<rclcpp::executors::StaticSingleThreadedExecutor>(*end.node);
	if (end.is(kMulti))
		return make_executor<rclcpp::executors::MultiThreadedExecutor>(*end.node, kThreads);
	return make_executor<rclcpp::executors::SingleThreadedExecutor>(*end.node);
}

std::unique_ptr<Taking> taking_for(icepath_endpoint &end)
{
	if (end.is(kWaitSet))
		return std::make_unique<ByWaitSet>();
	if (end.handler.is_used())
		return std::make_unique<ByCallback>(executor_of(end), end, end.handler);
	if (end.is(kMulti))
		return std::make_unique<FromThreads>(executor_of(end), end);
	return std::make_unique<BySpinning>(executor_of(end));
}

void call_back(icepath_endpoint &end, const Message::ConstSharedPtr &message)
{
	end.taking->call_back(message);
	if (end.handler.is_used() && end.has_window)
		end.tell_of_room();
}

int join(icepath_endpoint &end, const std::string &channel)
{
	return guarded(end, "joining", [&] {
		std::string name = "icepath_" + channel + "_" + std::to_string(end.side);
		std::ranges::replace(name, '-', '_');
		const ThreadsNamed named("rclcpp");
		end.node = make_node(name, dds_domain_of(channel), end.is(kIntra));
		rclcpp::QoS qos = ros_qos(end.asked);
		if (end.is(kIntra))
			qos.keep_last(end.window); // intra-process can't keep all
		if (end.sends)
			end.publisher = end.node->create_publisher<Message>(topic_of(channel, end.side), qos);
		if (end.receives) {
			end.taking = taking_for(end);
			end.subscription = end.node->create_subscription<Message>(
				topic_of(channel, 1 - end.side), qos,
				[&end](const Message::ConstSharedPtr &message) { call_back(end, message); });
			end.taking->begin(end.node, end.subscription);
		}
		return ICEPATH_OK;
	});
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

bool is_matched(const icepath_endpoint &end)
{
	if (end.is(kIntra)) // publishers aren't counted
		return !end.publisher || end.publisher->get_intra_process_subscription_count() > 0;
	return (!end.publisher || end.publisher->get_subscription_count() > 0) &&
		   (!end.subscription || end.subscription->get_publisher_count() > 0);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	if (end->side == 1 && end->is(kIntra) && !text_of(*peer).starts_with(std::to_string(getpid()) + "-"))
		return end->sentence.tell(ICEPATH_UNSUPPORTED,
								  "%s works only within one process, where rclcpp hands over pointers", end->target);
	return guarded(*end, "connecting",
				   [&] { return connect_discovered(*end, *peer, join, [&] { return is_matched(*end); }); });
}

template <class Publish> int publish(icepath_endpoint &end, icepath_send &message, Publish call)
{
	if (const int status = end.has_window ? end.await_room() : end.check_over(); status != ICEPATH_OK)
		return status;
	message.attempts = 1;
	message.call_ns = icepath_now_ns();
	call();
	message.return_ns = icepath_now_ns();
	return end.end_of_send(message.return_ns);
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	return guarded(*end, "a loan", [&] {
		*slot = nullptr;
		if (const int status = end->may_lend(bytes); status != ICEPATH_OK)
			return status;
		if (!end->lent)
			end->lent = std::make_unique<Message>();
		end->lent->data.resize(bytes);
		*slot = end->lent->data.data();
		return int{ICEPATH_OK};
	});
}

int send_lent(icepath_endpoint *end, void *, icepath_send *message)
{
	return guarded(*end, "publish()",
				   [&] { return publish(*end, *message, [&] { end->publisher->publish(std::move(end->lent)); }); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->publish_ns = 0;
	if (end->is(kIntra)) {
		return send_copy<lend, send_lent>(end, message);
	}
	return guarded(*end, "publish()", [&] {
		const auto *octets = static_cast<const uint8_t *>(message->data);
		end->outgoing.data.assign(octets, octets + message->bytes);
		return publish(*end, *message, [&] { end->publisher->publish(end->outgoing); });
	});
}

int take(icepath_endpoint &end, icepath_recv &message)
{
	return guarded(end, "a receive", [&] { return end.taking->take(end, message); });
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	if (const int status = take(*end, *message); status != ICEPATH_OK)
		return status;
	*slot = end->taking->taken->data.data();
	message->bytes = end->taking->taken->data.size();
	return ICEPATH_OK;
}

int give_back(icepath_endpoint *end, const void *)
{
	end->taking->taken.reset();
	end->tell_of_room();
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (const int status = take(*end, *message); status != ICEPATH_OK)
		return status;
	const Message &came = *end->taking->taken;
	message->bytes = std::min<uint64_t>(came.data.size(), message->capacity);
	std::memcpy(message->data, came.data.data(), message->bytes);
	end->taking->taken.reset();
	if (end->has_window)
		end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	try {
		if (end->taking)
			end->taking->cancel();
	} catch (const std::exception &) { // from the RMW; the call checks `cancelled` anyway
	}
}

void granted(const icepath_endpoint *end, icepath_qos *qos)
{
	add_granted(end->publisher.get(), end->subscription.get(), *qos);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		set_environment(kCycloneDds);
		icepath_plugin table = plugin_table("ros2", target, open_end, connect_end, send_message, recv_message);
		table.library_version = rclcpp_version();
		table.cancel = cancel;
		table.granted = granted;
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
