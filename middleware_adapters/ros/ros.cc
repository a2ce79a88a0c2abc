// SPDX-License-Identifier: Apache-2.0
// ROS 1 with roscpp, over TCP and UDP on the loopback device. rosmaster joins publishers and subscribers, and has no
// part in a message's path.
//
// ros/tcpros, ros/udpros: publish() copies the message into a buffer, queues it, and wakes the library's thread through
// a pipe. That thread asks epoll whether it may write, and writes. At the receiver such a thread reads the message into
// its own buffer (over UDP, each datagram into another one first), queues it, and wakes the receiver, which sleeps in
// callOne() of the endpoint's own CallbackQueue and copies the message out there, as a program does in ros::spin(). By
// callback, the thread of an AsyncSpinner sleeps there instead, and the side handles the message in it. It may publish
// there: publish() never waits.
//
// ros/service-persistent: sending is a call, which ends with an empty answer. The sender itself writes the request; the
// rest is as above. The receiver's callOne() writes the answer before it returns, and so before recv() has the message.
// ros/service is a client's default: in each call it asks rosmaster where the service is, connects, and both libraries'
// threads exchange headers, after which its own thread writes the request.
//
// ros/intra: publish() of a message by its boost::shared_ptr, to a subscriber in the same process. The sender's thread
// puts it into the receiver's queue and wakes the receiver. Nothing is copied, and the library's thread takes no part.
//
// cancel() disables the queue, which wakes callOne(), and drops the connection of a call; the accompanying signal ends
// the wait for rosmaster. A topic doesn't report the peer's death.
#include <ros/callback_queue.h>
#include <ros/ros.h>

#include <optional>
#include <vector>

#include "middleware_adapters/ros/node.h"
#include "middleware_adapters/ros/octets.h"
#include "middleware_adapters/ros/service.h"
#include "plugin_kit/brokered_end.h"
#include "plugin_kit/library.h"

using namespace icepath::plugin_kit;

namespace {

constexpr const char *kUdp = "ros/udpros", *kNoDelay = "ros/tcpros-nodelay", *kPersistent = "ros/service-persistent",
					 *kService = "ros/service", *kIntra = "ros/intra";
constexpr uint64_t kLargest = 16 * 1024 * 1024, kLargestByUdp = 65536;
constexpr uint64_t kLongestJoinNs = 5'000'000'000;
constexpr uint32_t kQueues = 1u << ICEPATH_QOS_HISTORY | 1u << ICEPATH_QOS_DEPTH;
const ros::WallDuration kLongestWait(1.0);

uint32_t kept_of(const icepath_qos &asked)
{
	const std::optional<uint64_t> depth = value_of(asked, ICEPATH_QOS_DEPTH);
	if (value_of(asked, ICEPATH_QOS_HISTORY).value_or(depth ? ICEPATH_KEEP_LAST : ICEPATH_KEEP_ALL) == ICEPATH_KEEP_ALL)
		return 0;
	return static_cast<uint32_t>(std::min<uint64_t>(depth.value_or(1), UINT32_MAX));
}

} // namespace

struct icepath_endpoint : BrokeredEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: BrokeredEnd(how, what), kept(kept_of(how.qos)), handler(how),
		  handled(handler.is_used() ? how.payload_bytes : 0)
	{}
	bool is(const char *name) const { return std::strcmp(target, name) == 0; }
	bool has_service() const { return is(kService) || is(kPersistent); }

	// Whether the sender waits while too many messages haven't been taken.
	bool has_window() const { return !is(kUdp) && kept == 0; }

	const uint32_t kept; // messages that each queue of a topic keeps: the last ones; 0: all
	const Handler handler;
	std::vector<uint8_t> handled; // by callback: the message
	ros::CallbackQueue queue; // of incoming messages; ends after what fills it
	Octets incoming;
	uint64_t came_ns = 0; // when the callback got it; 0: not yet
	uint64_t called_ns = 0; // by callback: when the library asked for memory for it
	std::string forth; // the topic to the peer, or its service
	ros::Publisher publisher;
	ros::Subscriber subscriber;
	Service service;
	boost::shared_ptr<Octets> lent; // ros/intra: to be sent
	boost::shared_ptr<const Octets> taken;
	std::optional<ros::AsyncSpinner> spinner; // by callback; ends first
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const auto made = [](const char *name, const char *summary, uint32_t also = 0) {
		icepath_target it =
			relayed_target(name, summary, ICEPATH_WAIT_BLOCK, kLargest,
						   "icepath's own limit: the library's 1 GB take longer than a block of messages");
		it.capabilities |= also;
		if (also & ICEPATH_BETWEEN_PROCESSES)
			it.waits |= ICEPATH_WAIT_CALLBACK;
		it.qos = also & ICEPATH_IS_RENDEZVOUS ? 0 : kQueues;
		return it;
	};
	static const std::vector<icepath_target> targets = {
		made("ros/tcpros", "a ROS 1 topic over TCP (TCPROS), as roscpp sets it up", ICEPATH_BETWEEN_PROCESSES),
		made(kNoDelay, "as ros/tcpros, with TransportHints().tcpNoDelay()", ICEPATH_BETWEEN_PROCESSES),
		[] {
			icepath_target it = made(kUdp, "a ROS 1 topic over UDP (UDPROS), in datagrams of 1500 bytes",
									 ICEPATH_IS_LOSSY | ICEPATH_BETWEEN_PROCESSES);
			it.qos = 1u << ICEPATH_QOS_DEPTH; // otherwise an endless queue, because the sender waits for nobody
			it.max_payload_bytes = kLargestByUdp;
			it.max_payload_why = "icepath's own limit: roscpp sends all datagrams of a message at once, and a receive "
								 "buffer of net.core.rmem_default has room for those of little more";
			return it;
		}(),
		made(kPersistent, "a call of a ROS 1 service for each message, over one connection", ICEPATH_IS_RENDEZVOUS),
		made(kService, "a call of a ROS 1 service for each message, which is looked up and connected to each time",
			 ICEPATH_IS_RENDEZVOUS),
		[] {
			icepath_target it = made(kIntra, "a ROS 1 topic within a process: a message is handed over by its pointer",
									 ICEPATH_CAN_LOAN | ICEPATH_WITHIN_PROCESS);
			it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
			return it;
		}(),
	};
	return n < targets.size() ? &targets[n] : nullptr;
}

// Where the library puts a message.
Octets *memory_of(icepath_endpoint &end)
{
	if (end.handler.is_used()) {
		end.called_ns = icepath_now_ns();
		end.incoming = {end.handled.data(), end.handled.size(), 0};
	}
	return &end.incoming;
}

void take_note(icepath_endpoint &end, const boost::shared_ptr<const Octets> &message)
{
	if (end.handler.is_used()) {
		end.handler.take(end.called_ns, end.handled.data(), end.incoming.bytes);
		return end.tell_of_room();
	}
	end.came_ns = icepath_now_ns();
	end.taken = message;
}

void spin(icepath_endpoint &end)
{
	const ThreadsNamed named("AsyncSpinner");
	end.spinner.emplace(1, &end.queue).start();
}

void subscribe(icepath_endpoint &end, const std::string &topic)
{
	ros::SubscribeOptions wish;
	wish.initByFullCallbackType<const boost::shared_ptr<const Octets> &>(
		topic, end.kept, [&end](const boost::shared_ptr<const Octets> &message) { take_note(end, message); },
		[&end] { return boost::shared_ptr<Octets>(boost::shared_ptr<void>(), memory_of(end)); });
	wish.callback_queue = &end.queue;
	if (end.is(kUdp))
		wish.transport_hints.unreliable();
	if (end.is(kNoDelay))
		wish.transport_hints.tcpNoDelay();
	end.subscriber = node().subscribe(wish);
	if (end.handler.is_used())
		spin(end);
}

// A queue of length 0 is endless, and a full one drops its oldest message. Endless ones get a window, not over UDP.
int join(icepath_endpoint &end, const std::string &channel)
{
	return guarded(end, "joining", [&] {
		end.forth = channel + std::to_string(end.side);
		const std::string back = channel + std::to_string(1 - end.side);
		ros::NodeHandle &here = node();
		if (end.has_service()) {
			if (end.receives)
				end.service.serve(back, end.queue, end.incoming, [&end] {
					end.tell_of_room(); // before the answer: see call()
					end.came_ns = icepath_now_ns();
				});
			return ICEPATH_OK;
		}
		if (end.sends)
			end.publisher = here.advertise<Octets>(end.forth, end.is(kUdp) && end.kept == 0 ? end.window : end.kept);
		if (end.receives)
			subscribe(end, back);
		return ICEPATH_OK;
	});
}

// ROS names have no hyphen.
std::string ros_name(std::string channel)
{
	std::ranges::replace(channel, '-', '_');
	return "/icepath/channel_" + channel + "/";
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		return open_with_memory(
			end, [](icepath_endpoint &it, const std::string &channel) { return join(it, ros_name(channel)); });
	});
}

int nobody_serves(icepath_endpoint &end, int status)
{
	return end.sentence.tell(status, "nobody answers a call on %s (%s)", end.target, end.forth.c_str());
}

int find_service(icepath_endpoint &end)
{
	if (!end.sends || end.service.find(end.forth, end.is(kPersistent), kLongestJoinNs / 1e9))
		return ICEPATH_OK;
	return nobody_serves(end, ICEPATH_FAILED);
}

int await_peer(icepath_endpoint &end)
{
	const uint64_t give_up_ns = icepath_now_ns() + kLongestJoinNs;
	while ((end.sends && end.publisher.getNumSubscribers() == 0) ||
		   (end.receives && end.subscriber.getNumPublishers() == 0)) {
		if (end.is_cancelled() || end.a_peer_has_ended())
			return end.end_of_cancelled();
		if (icepath_now_ns() > give_up_ns)
			return end.sentence.tell(ICEPATH_FAILED, "%s: publisher and subscriber haven't found each other in 5 s",
									 end.target);
		usleep(1000);
	}
	return ICEPATH_OK;
}

// Side 1 connects first, and finds what side 0 has made.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	const bool in_one_process = text_of(*peer).starts_with(std::to_string(getpid()) + "-");
	if (end->side == 1 && !end->has_service() && in_one_process != end->is(kIntra)) {
		static_cast<void>(connect_memory(end, peer)); // takes ownership of its descriptors
		return end->sentence.tell(ICEPATH_UNSUPPORTED,
								  end->is(kIntra) ? "%s works only within one process, where roscpp hands over pointers"
												  : "%s goes between processes only: within one, roscpp hands over "
													"pointers, which is ros/intra",
								  end->target);
	}
	const int status = connect_brokered(
		*end, *peer, [](icepath_endpoint &it, const std::string &channel) { return join(it, ros_name(channel)); });
	if (status != ICEPATH_OK)
		return status;
	return guarded(*end, "connecting", [&] { return end->has_service() ? find_service(*end) : await_peer(*end); });
}

Octets octets_of(const icepath_send &message)
{
	return {static_cast<uint8_t *>(const_cast<void *>(message.data)), message.bytes, message.bytes};
}

template <class Message> int publish(icepath_endpoint &end, icepath_send &message, const Message &what)
{
	if (const int status = end.has_window() ? end.await_room() : end.check_over(); status != ICEPATH_OK)
		return status;
	message.attempts = 1;
	message.call_ns = icepath_now_ns();
	end.publisher.publish(what);
	message.return_ns = icepath_now_ns();
	return end.end_of_send(message.return_ns);
}

// Without a persistent connection an answer is lost now and then: the server closes the connection after it, and the
// client may notice that first and drop unread bytes (1.15: ros_comm's issue 1976). The message was taken all the same.
int call(icepath_endpoint &end, icepath_send &message)
{
	if (end.is_cancelled())
		return end.end_of_cancelled();
	const Octets octets = octets_of(message);
	message.attempts = 1;
	message.call_ns = icepath_now_ns();
	const bool is_answered = end.service.call(octets);
	message.return_ns = icepath_now_ns();
	if (is_answered || end.out->taken.load(std::memory_order_acquire) == end.sent + 1) {
		end.sent++;
		return ICEPATH_OK;
	}
	return end.is_cancelled() ? end.end_of_cancelled() : nobody_serves(end, ICEPATH_CLOSED);
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	return guarded(*end, "a loan", [&] {
		*slot = nullptr;
		if (const int status = end->may_lend(bytes); status != ICEPATH_OK)
			return status;
		end->lent = boost::make_shared<Slot>(bytes);
		*slot = end->lent->data;
		return int{ICEPATH_OK};
	});
}

int send_lent(icepath_endpoint *end, void *, icepath_send *message)
{
	return guarded(*end, "a send", [&] {
		const int status = publish(*end, *message, end->lent);
		end->lent.reset();
		return status;
	});
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->publish_ns = 0;
	if (end->is(kIntra))
		return send_copy<lend, send_lent>(end, message);
	return guarded(*end, "a send", [&] {
		return end->has_service() ? call(*end, *message) : publish(*end, *message, octets_of(*message));
	});
}

int take(icepath_endpoint &end, icepath_recv &message)
{
	end.incoming = {static_cast<uint8_t *>(message.data), message.capacity, 0};
	end.came_ns = 0;
	message.attempts = 1;
	message.take_call_ns = icepath_now_ns();
	while (end.came_ns == 0) {
		if (end.is_over())
			return end.end_of_call();
		end.queue.callOne(kLongestWait);
	}
	message.take_return_ns = end.came_ns;
	message.bytes = std::min(end.incoming.bytes, message.capacity);
	if (!end.has_service())
		end.tell_of_room();
	return ICEPATH_OK;
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	if (const int status = guarded(*end, "a receive", [&] { return take(*end, *message); }); status != ICEPATH_OK)
		return status;
	*slot = end->taken->data;
	message->bytes = end->taken->bytes;
	return ICEPATH_OK;
}

int give_back(icepath_endpoint *end, const void *)
{
	end->taken.reset();
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (end->is(kIntra))
		return recv_copy<take_lent, give_back>(end, message);
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->handler.is_used())
		return end->end_of_call();
	return guarded(*end, "a receive", [&] { return take(*end, *message); });
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	if (!end->handler.is_used()) // a spinner would never sleep
		end->queue.disable();
	end->service.cancel();
}

// The library doesn't report the length of its queues: these are the lengths that were set.
void granted(const icepath_endpoint *end, icepath_qos *qos)
{
	if (end->kept != 0)
		set_value(*qos, ICEPATH_QOS_DEPTH, end->kept);
	if (end->kept != 0 || (!end->is(kUdp) && !end->has_service()))
		set_value(*qos, ICEPATH_QOS_HISTORY, end->kept != 0 ? ICEPATH_KEEP_LAST : ICEPATH_KEEP_ALL);
}

const char *version()
{
	static const std::string text = "roscpp " + std::to_string(ROS_VERSION_MAJOR) + "." +
									std::to_string(ROS_VERSION_MINOR) + "." + std::to_string(ROS_VERSION_PATCH);
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		set_environment();
		icepath_plugin table = plugin_table("ros", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.daemon = &kMaster;
		table.cancel = cancel;
		table.granted = granted;
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
