// SPDX-License-Identifier: Apache-2.0
// ROS 2 with rclcpp and loaned messages: the RMW lends memory (borrow_loaned_message), which the sender fills in place
// and passes on with publish(). The receiver, which sleeps in an rclcpp::WaitSet, reads it in place. With
// rmw_cyclonedds this is shared memory of iceoryx, so iox-roudi has to run, and iceoryx's listener thread takes each
// message into the subscription's history and triggers the wait set. A separate plug-in, because the other ROS 2
// targets need no daemon.
//
// What to know of it:
//
//  - Only messages of fixed size are lent: here the smallest of four types that has room.
//  - rclcpp lends to a subscription's callback, until that returns, and only in its executors. Here the receiver calls
//    what they call, rcl_take_loaned_message(), and returns the message when it is done.
//  - With rmw_cyclonedds (1.3.4, with Cyclone DDS 0.10.2) a receiver returns a chunk under another lock than the one
//    under which iceoryx's thread takes the next (dds_data_allocator_free()): when both happen at once, chunks get
//    lost, until it has 256 and no message comes any more. So one message is in flight here at a time: the sender waits
//    until the last one was returned.
//  - iceoryx finds its peer later than DDS does, and nothing reports it: so connect() greets its peer until the peer's
//    subscription has reported something new (set_on_new_message_callback). iceoryx's own thread returns greetings.
//
// cancel() triggers a guard condition in the wait set.
#include <rclcpp/rclcpp.hpp>

#include "middleware_adapters/iceoryx/roudi.h"
#include "middleware_adapters/ros2/loan_topics.h"
#include "middleware_adapters/ros2/node.h"
#include "middleware_adapters/ros2/qos.h"
#include "middleware_adapters/ros2/wait.h"
#include "plugin_kit/discovery.h"
#include "plugin_kit/library.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 1048576;
constexpr size_t kKept = 16; // never exceeded: there is one message, and greetings before it
constexpr uint64_t kLongestGreetingNs = 10'000'000'000;
constexpr const char *kCycloneDds = R"(<CycloneDDS><Domain>
<General><AllowMulticast>spdp</AllowMulticast></General>
<SharedMemory><Enable>true</Enable><LogLevel>off</LogLevel></SharedMemory>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";

bool is_by_cyclone() { return rmw_name() == "rmw_cyclonedds_cpp"; }

// Of one direction, in shared memory; starts zeroed.
struct Way {
	SendWindow window;
	std::atomic<uint32_t> heard; // a greeting
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : WindowedEnd(one_at_a_time(how), what) {}
	~icepath_endpoint()
	{
		try {
			if (listens) // afterwards no hear() is running
				subscription->clear_on_new_message_callback();
		} catch (const std::exception &) { // from the RMW
		}
		if (taken)
			give_taken_back();
	}
	uint64_t memory_bytes() const { return 2 * sizeof(Way); }
	void lay_out(uint8_t *first)
	{
		auto *ways = reinterpret_cast<Way *>(first);
		out_heard = &ways[side].heard;
		in_heard = &ways[1 - side].heard;
		out = &ways[side].window;
		in = &ways[1 - side].window;
	}
	static icepath_open one_at_a_time(icepath_open how)
	{
		how.depth = 1;
		return how;
	}
	rcl_ret_t take()
	{
		rmw_message_info_t info = rmw_get_zero_initialized_message_info();
		return rcl_take_loaned_message(subscription->get_subscription_handle().get(), &taken, &info, nullptr);
	}
	rcl_ret_t give_taken_back()
	{
		return rcl_return_loaned_message_from_subscription(subscription->get_subscription_handle().get(),
														   std::exchange(taken, nullptr));
	}

	std::atomic<uint32_t> *in_heard = nullptr, *out_heard = nullptr;
	rclcpp::Node::SharedPtr node;
	std::unique_ptr<Topics> topics;
	rclcpp::SubscriptionBase::SharedPtr subscription;
	bool listens = false; // for greetings, in an RMW thread, which owns `taken` until then
	void *taken = nullptr;
	std::unique_ptr<SubscriptionWait> wait_set;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it =
			relayed_target("ros2/loaned", "a ROS 2 topic with messages that the RMW lends, after an rclcpp::WaitSet",
						   ICEPATH_WAIT_EPOLL, kLargest, "the largest type of icepath's has 1 MiB");
		it.mechanisms |= ICEPATH_USES_SHARED_MEMORY;
		it.capabilities |= ICEPATH_CAN_LOAN;
		it.why_not = why_no_rmw();
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

int failed(icepath_endpoint &end, const char *call)
{
	const std::string why = rcl_get_error_string().str;
	rcl_reset_error();
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, call, why.c_str());
}

// The first message may come before it is asked for, and is kept.
void hear(icepath_endpoint &end)
{
	uint64_t bytes = 0;
	while (!end.taken && end.take() == RCL_RET_OK) {
		end.topics->octets_in(end.taken, bytes);
		if (bytes == 0)
			end.give_taken_back();
	}
	rcl_reset_error();
	*end.in_heard = 1;
}

void subscribe(icepath_endpoint &end, const std::string &topic, const rclcpp::QoS &qos)
{
	end.topics->subscribe_to(*end.node, topic, qos);
	end.subscription = end.topics->subscription();
	end.subscription->set_on_new_message_callback([&end](size_t) { hear(end); });
	end.listens = true;
	end.wait_set = std::make_unique<SubscriptionWait>(*end.node, end.subscription);
}

int join(icepath_endpoint &end, const std::string &channel)
{
	return guarded(end, "joining", [&] {
		std::string name = "icepath_" + channel + "_" + std::to_string(end.side);
		std::ranges::replace(name, '-', '_');
		const ThreadsNamed named(is_by_cyclone() ? "iox listener" : "rclcpp");
		end.node = make_node(name, dds_domain_of(channel), false);
		end.topics = topics_for(end.payload_bytes);
		const rclcpp::QoS qos{rclcpp::KeepLast(kKept)};
		if (end.sends)
			end.topics->publish_on(*end.node, topic_of(channel, end.side), qos);
		if (end.receives)
			subscribe(end, topic_of(channel, 1 - end.side), qos);
		if ((end.sends && !end.topics->publisher()->can_loan_messages()) ||
			(end.receives && !rcl_subscription_can_loan_messages(end.subscription->get_subscription_handle().get())))
			return end.sentence.tell(ICEPATH_FAILED, "%s: %s lends no messages of fixed size", end.target,
									 rmw_name().c_str());
		return int{ICEPATH_OK};
	});
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int greet(icepath_endpoint &end)
{
	const uint64_t give_up_ns = icepath_now_ns() + kLongestGreetingNs;
	while (end.out_heard->load() == 0) {
		if (end.is_over())
			return end.end_of_call();
		end.topics->lend();
		end.topics->send(0);
		if (icepath_now_ns() > give_up_ns)
			return end.sentence.tell(ICEPATH_FAILED, "%s: no greeting has come to the other end in 10 s", end.target);
		usleep(5000);
	}
	return ICEPATH_OK;
}

bool is_matched(const icepath_endpoint &end)
{
	return (!end.topics->publisher() || end.topics->publisher()->get_subscription_count() > 0) &&
		   (!end.subscription || end.subscription->get_publisher_count() > 0);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	return guarded(*end, "connecting", [&] {
		const int status = connect_discovered(*end, *peer, join, [&] { return is_matched(*end); });
		return status == ICEPATH_OK && end->sends ? greet(*end) : status;
	});
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	*slot = nullptr;
	if (const int status = end->may_lend(bytes); status != ICEPATH_OK)
		return status;
	return guarded(*end, "borrow_loaned_message()", [&] {
		*slot = end->topics->lend();
		return ICEPATH_OK;
	});
}

int send_lent(icepath_endpoint *end, void *, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	return guarded(*end, "publish()", [&] {
		message->attempts = 1;
		message->call_ns = icepath_now_ns();
		end->topics->send(message->bytes);
		message->return_ns = icepath_now_ns();
		return end->end_of_send(message->return_ns);
	});
}

int take(icepath_endpoint &end, const void **slot, icepath_recv &message)
{
	if (end.listens)
		end.subscription->clear_on_new_message_callback(); // afterwards none is running
	end.listens = false;
	for (;;) {
		if (end.is_over())
			return end.end_of_call();
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		const rcl_ret_t status = end.taken ? RCL_RET_OK : end.take();
		message.take_return_ns = icepath_now_ns();
		if (status == RCL_RET_OK) {
			*slot = end.topics->octets_in(end.taken, message.bytes);
			if (message.bytes != 0)
				return ICEPATH_OK;
			if (end.give_taken_back() != RCL_RET_OK)
				return failed(end, "rcl_return_loaned_message_from_subscription()");
			continue;
		}
		if (status != RCL_RET_SUBSCRIPTION_TAKE_FAILED) // no message
			return failed(end, "rcl_take_loaned_message()");
		rcl_reset_error();
		end.wait_set->sleep();
		message.wait_return_ns = icepath_now_ns();
	}
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	return guarded(*end, "a receive", [&] { return take(*end, slot, *message); });
}

int give_back(icepath_endpoint *end, const void *)
{
	if (end->give_taken_back() != RCL_RET_OK)
		return failed(*end, "rcl_return_loaned_message_from_subscription()");
	end->tell_of_room();
	return ICEPATH_OK;
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	try {
		if (end->wait_set)
			end->wait_set->end();
	} catch (const std::exception &) { // from the RMW; the call checks `cancelled` anyway
	}
}

void granted(const icepath_endpoint *end, icepath_qos *qos)
{
	if (end->topics)
		add_granted(end->topics->publisher(), end->subscription.get(), *qos);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		set_environment(kCycloneDds);
		setenv("ROS_DISABLE_LOANED_MESSAGES", "0", 1); // by default, subscriptions have none
		icepath_plugin table = plugin_table("ros2-loaned", target, open_end, connect_end, send_copy<lend, send_lent>,
											recv_copy<take_lent, give_back>);
		table.library_version = rclcpp_version();
		if (is_by_cyclone())
			table.daemon = &kRouDi;
		table.cancel = cancel;
		table.granted = granted;
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
