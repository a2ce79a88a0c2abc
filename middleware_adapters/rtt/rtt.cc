// SPDX-License-Identifier: Apache-2.0
// OROCOS RTT 2.9: a component at each end, whose output port has a buffered, lock-free connection to the other's input
// port. Sending is write(), in the sender's thread. The components have no RTT threads: the endpoint's thread executes
// them (component.h).
//
// rtt/port: within one process. write() copies the message into the connection's buffer. If the input port is an event
// port (epoll), it also queues the port at the other component's engine and triggers its activity, which wakes the
// receiver here. The receiver executes its engine and reads the port, which copies the message out. With `spin` it
// isn't an event port, and is read repeatedly.
//
// rtt/mqueue: streams over RTT's mqueue transport, a POSIX message queue for each direction. write() is one mq_send().
// In the receiver's process the transport's single thread (MQueueDispatch) sleeps in select(), takes the message out of
// the queue, and writes it into the port's buffer, which wakes the receiver as above. It requests SCHED_FIFO at the
// highest priority, which is refused in the namespaces of icepath's workers.
//
// A full queue or buffer loses messages: write() fails, if it reports the loss at all (the transport drops what the
// queue has no room for and reports success). So the sender has a window (send_window.h) that both have room for.
//
// Only the receiver's call waits, for the port's ring; cancel() rings too. RTT doesn't report a peer's death.
#include <mqueue.h>
#include <sys/resource.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "middleware_adapters/rtt/component.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/library.h"
#include "plugin_kit/ring_wait.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 4 * kMiB;
constexpr uint64_t kChargePerMessage = 128; // to RLIMIT_MSGQUEUE: mqueue_get_inode
constexpr uint64_t kShallowest = 2, kTransportsDepth = 10; // messages in a queue
constexpr const char *kPort = "rtt/port", *kMqueue = "rtt/mqueue";

uint64_t queue_bytes()
{
	rlimit limit{};
	getrlimit(RLIMIT_MSGQUEUE, &limit);
	return limit.rlim_cur;
}

// One queue entry is one message: the transport has no parts.
uint64_t largest_of_queue()
{
	const uint64_t fits = queue_bytes() / (2 * kShallowest);
	return std::min({kernel_limit("/proc/sys/fs/mqueue/msgsize_max", 8192), kLargest,
					 fits > kChargePerMessage ? fits - kChargePerMessage : 0});
}

// RLIMIT_MSGQUEUE counts all queues of the user, those of a run's other cells included.
uint64_t depth_of_queue(uint64_t payload_bytes)
{
	const uint64_t deepest = std::min(kernel_limit("/proc/sys/fs/mqueue/msg_max", kTransportsDepth), kTransportsDepth);
	const uint64_t share = queue_bytes() / 32 / (payload_bytes + kChargePerMessage);
	return std::max(std::min(share, deepest), kShallowest);
}

uint64_t longest_window(const icepath_open &how, const icepath_target &what)
{
	return std::strcmp(what.name, kMqueue) == 0 ? depth_of_queue(how.payload_bytes) : WindowedEnd::kLongestWindow;
}

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what, longest_window(how, what))
	{}
	~icepath_endpoint();
	bool is(const char *name) const { return std::strcmp(target, name) == 0; }

	DataBell bell;
	std::string channel;
	std::unique_ptr<Component> component;
};

namespace {

// Side 0 of each rtt/port channel: RTT can't find its components by name.
std::mutex open_ends_lock;
std::map<std::string, icepath_endpoint *> open_ends;

const icepath_target *target(uint32_t n)
{
	static const std::vector<icepath_target> all = [] {
		icepath_target port =
			relayed_target(kPort, "ports of two components within a process: a buffered, lock-free connection",
						   ICEPATH_WAIT_EPOLL | ICEPATH_WAIT_SPIN, kLargest,
						   "icepath's own limit: a window has room for two messages of 4 MiB");
		port.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		port.capabilities |= ICEPATH_WITHIN_PROCESS;
		icepath_target queue = relayed_target(kMqueue, "ports of two components over POSIX message queues (mqueue)",
											  ICEPATH_WAIT_EPOLL, largest_of_queue(),
											  "a message of a queue: /proc/sys/fs/mqueue/msgsize_max, or what "
											  "RLIMIT_MSGQUEUE has room for (ulimit -q)");
		if (queue.max_payload_bytes == 0)
			queue.why_not = "RLIMIT_MSGQUEUE leaves no room for a queue: raise it with ulimit -q";
		return std::vector<icepath_target>{port, queue};
	}();
	return n < all.size() ? &all[n] : nullptr;
}

std::string queue_of(const std::string &channel, uint32_t from)
{
	return "/icepath-" + channel + "-" + std::to_string(from);
}

int make_stream(icepath_endpoint &end, Direction direction, uint32_t from)
{
	const std::string queue = queue_of(end.channel, from);
	if (end.component->make_stream(direction, queue))
		return ICEPATH_OK;
	return end.sentence.tell(ICEPATH_FAILED,
							 "%s: RTT makes no stream of the queue %s with %u messages of %llu bytes; RLIMIT_MSGQUEUE "
							 "(ulimit -q) may be used up",
							 end.target, queue.c_str(), end.window, static_cast<unsigned long long>(end.payload_bytes));
}

int join(icepath_endpoint &end, const std::string &channel)
{
	return guarded(end, "joining", [&] {
		std::function<void()> ring;
		if (end.wait == ICEPATH_WAIT_EPOLL)
			ring = [&end] { end.bell.ring(); };
		end.channel = channel;
		end.component =
			std::make_unique<Component>("icepath-" + channel + "-" + std::to_string(end.side),
										Buffering{static_cast<int>(end.window), end.payload_bytes}, std::move(ring));
		if (end.is(kMqueue))
			return end.sends ? make_stream(end, Direction::Out, end.side) : int{ICEPATH_OK};
		const std::lock_guard lock(open_ends_lock);
		if (end.side == 0)
			open_ends[channel] = &end;
		return int{ICEPATH_OK};
	});
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int connect_ports(icepath_endpoint &end)
{
	const std::lock_guard lock(open_ends_lock);
	const auto peer = open_ends.find(end.channel);
	if (peer == open_ends.end())
		return end.sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed", end.target);
	Component &here = *end.component, &there = *peer->second->component;
	if ((!end.receives || there.connect_to(here)) && (!end.sends || here.connect_to(there)))
		return ICEPATH_OK;
	return end.sentence.tell(ICEPATH_FAILED, "%s: RTT doesn't connect the ports", end.target);
}

int connect_queues(icepath_endpoint &end)
{
	const int status = end.receives ? make_stream(end, Direction::In, 1 - end.side) : ICEPATH_OK;
	if (end.side == 0) // side 0 is last: both have them open
		for (const uint32_t from : {0u, 1u})
			mq_unlink(queue_of(end.channel, from).c_str());
	return status;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	int status = connect_memory(end, peer);
	if (status == ICEPATH_OK && end->side == 1) {
		const std::string channel = text_of(*peer);
		if (end->is(kPort) && !channel.starts_with(std::to_string(getpid()) + "-"))
			return end->sentence.tell(ICEPATH_UNSUPPORTED,
									  "%s works only within one process, in whose memory its buffer is", end->target);
		status = join(*end, channel);
	}
	if (status != ICEPATH_OK || (end->is(kPort) && end->side == 0))
		return status;
	return guarded(*end, "connecting", [&] { return end->is(kPort) ? connect_ports(*end) : connect_queues(*end); });
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	return guarded(*end, "a send", [&] {
		message->call_ns = message->publish_ns = 0;
		if (const int status = end->await_room(); status != ICEPATH_OK)
			return status;
		const auto *bytes = static_cast<const char *>(message->data);
		end->component->outgoing.assign(bytes, bytes + message->bytes);
		message->attempts = 1;
		message->call_ns = icepath_now_ns();
		const Written written = end->component->write();
		message->return_ns = icepath_now_ns();
		if (written == Written::Yes)
			return end->end_of_send(message->return_ns);
		if (written == Written::NotConnected)
			return end->sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed", end->target);
		return end->sentence.tell(ICEPATH_FAILED, "%s: RTT can't write a message of %llu bytes", end->target,
								  static_cast<unsigned long long>(message->bytes));
	});
}

int take(icepath_endpoint &end, icepath_recv &message)
{
	for (;;) {
		if (end.is_over())
			return end.end_of_call();
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		const bool is_message = end.component->read();
		message.take_return_ns = icepath_now_ns();
		if (is_message)
			return ICEPATH_OK;
		if (end.wait == ICEPATH_WAIT_SPIN)
			continue;
		if (const uint64_t back_ns = end.bell.sleep())
			message.wait_return_ns = back_ns;
		end.component->execute(); // the port that rang is queued at its engine
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	return guarded(*end, "a receive", [&] {
		if (const int status = take(*end, *message); status != ICEPATH_OK)
			return status;
		const std::vector<char> &came = end->component->incoming;
		message->bytes = std::min<uint64_t>(came.size(), message->capacity);
		std::memcpy(message->data, came.data(), message->bytes);
		end->tell_of_room();
		return int{ICEPATH_OK};
	});
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	end->bell.ring();
}

} // namespace

icepath_endpoint::~icepath_endpoint()
{
	if (is(kPort) && side == 0) {
		const std::lock_guard lock(open_ends_lock);
		open_ends.erase(channel);
	}
}

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const std::string version = "OROCOS RTT " + rtt_version();
	static const icepath_plugin plugin = [] {
		// RTT prints, and writes to a file in the current folder.
		setenv("ORO_LOGLEVEL", "0", 1);
		setenv("ORO_LOGFILE", "/dev/null", 1);
		icepath_plugin table = plugin_table("rtt", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version.c_str();
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
