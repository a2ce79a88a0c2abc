// SPDX-License-Identifier: Apache-2.0
// Boost.Interprocess message_queue, one for each direction: a mutex, two conditions and slots in shared memory. It is a
// user-space library: a call's stamps enclose copying and locking, and the kernel is entered only to wake a process or
// when the mutex is held. Only the library knows exactly when a message becomes visible.
//
// On Linux its mutex and condition are pthread's, shared between processes (BOOST_INTERPROCESS_POSIX_PROCESS_SHARED);
// the spinning ones of boost/interprocess/sync/spin are for other systems. glibc spins in neither, so `block` sleeps.
// No signal interrupts that sleep, though: each wait has a deadline, after which it is entered again. `poll` is
// try_receive, which waits only for the mutex, and sleeps if the other side holds it.
//
// A queue needs a name in /dev/shm until both sides have it open. In a fan-in, each sender gets its own name for it, a
// hard link, removed when that sender has the queue open.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/version.hpp>
#include <memory>
#include <string>

#include "plugin_kit/boost_mq_lock.h"
#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/fresh_name.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"

#ifndef BOOST_INTERPROCESS_POSIX_PROCESS_SHARED
#error "this Boost would spin: the transport must not offer to block"
#endif

using namespace icepath::plugin_kit;
namespace ipc = boost::interprocess;

namespace {

// The longest and the shortest time that one wait lasts.
constexpr uint64_t kWaitNs = 200'000'000, kShortestWaitNs = 100'000'000;
// A send that took longer checks whether the receiver still lives.
constexpr uint64_t kLongNs = 1'000'000;

// The library takes deadlines as calendar dates: computed anew only when the last one is near.
class Deadline {
public:
	const boost::posix_time::ptime &get()
	{
		if (icepath_now_ns() + kShortestWaitNs > at_ns_) {
			at_ns_ = icepath_now_ns() + kWaitNs;
			date_ =
				boost::posix_time::microsec_clock::universal_time() + boost::posix_time::microseconds(kWaitNs / 1000);
		}
		return date_;
	}

private:
	uint64_t at_ns_ = 0;
	boost::posix_time::ptime date_;
};

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { remove_names(); }
	void remove_names()
	{
		for (std::string &name : names) {
			if (!name.empty())
				ipc::message_queue::remove(name.c_str());
			name.clear();
		}
	}
	std::unique_ptr<ipc::message_queue> in, out;
	std::unique_ptr<BoostQueueLock> in_lock, out_lock;
	std::string names[2]; // of the outgoing and the incoming queue; this end removes them
	Deadline deadline;
};

namespace {

constexpr uint64_t kLargest = 16 * kMiB;
constexpr uint64_t kLargestQueue = 32 * kMiB;
constexpr char kBetweenNames = ' ';
constexpr uint64_t kDefaultDepth = 10; // as for a POSIX message queue

uint64_t free_bytes()
{
	struct statvfs room{};
	return statvfs("/dev/shm", &room) ? 0 : uint64_t{room.f_bavail} * room.f_frsize;
}

const icepath_target *target(uint32_t n)
{
	static char why[128];
	static const icepath_target queue = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "boost-mq";
		it.summary = "Boost.Interprocess message_queue: shared memory under a pthread mutex and conditions";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		it.capabilities = ICEPATH_CAN_FANIN;
		it.fanin_waits = it.waits;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: a queue has at least two messages of the payload's size";
		// A channel has two queues, and other channels need memory too.
		if (const uint64_t room = free_bytes() / 8; room < kLargest) {
			it.max_payload_bytes = room;
			std::snprintf(why, sizeof(why), "an eighth of what is free in /dev/shm, %llu bytes",
						  static_cast<unsigned long long>(free_bytes()));
			it.max_payload_why = why;
			if (room == 0)
				it.why_not = "there is no room in /dev/shm: make some, or mount a tmpfs there";
		}
		return it;
	}();
	return n == 0 ? &queue : nullptr;
}

int make_queue(icepath_endpoint &end, const icepath_open &how, bool sends)
{
	std::string &name = end.names[sends ? 0 : 1];
	name = fresh_name(how.name);
	const uint64_t fitting = std::max<uint64_t>(2, kLargestQueue / end.payload_bytes);
	const uint64_t depth = std::min<uint64_t>(how.depth ? how.depth : kDefaultDepth, fitting);
	// Missing memory would be a SIGBUS later: a tmpfs allocates pages only when they are touched.
	constexpr uint64_t kHeads = 128; // per message: its header, and a share of the queue's
	if (depth * (end.payload_bytes + kHeads) > free_bytes())
		return end.sentence.tell(ICEPATH_FAILED, "boost-mq: /dev/shm has no room for %llu messages of %llu bytes",
								 static_cast<unsigned long long>(depth),
								 static_cast<unsigned long long>(end.payload_bytes));
	(sends ? end.out : end.in) = std::make_unique<ipc::message_queue>(ipc::create_only, name.c_str(), depth,
																	  end.payload_bytes, ipc::permissions(0600));
	(sends ? end.out_lock : end.in_lock) = std::make_unique<BoostQueueLock>(name.c_str());
	return ICEPATH_OK;
}

// The address has the names of the queues that this end makes, or of the one that a fan-in's sender waits for.
int set_up(icepath_endpoint &end, const icepath_open &how)
{
	if (end.in_fan_in() && end.sends)
		end.names[0] = fresh_name(how.name);
	int status = ICEPATH_OK;
	if (end.makes())
		try {
			if (end.sends)
				status = make_queue(end, how, true);
			if (status == ICEPATH_OK && end.receives)
				status = make_queue(end, how, false);
		} catch (const std::exception &error) {
			status = end.sentence.tell(ICEPATH_FAILED, "boost-mq: making a queue failed: %s", error.what());
		}
	give_text(end, end.names[0] + kBetweenNames + end.names[1]);
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, [=](icepath_endpoint &end) { return set_up(end, *how); });
}

void open_queue(const std::string &name, std::unique_ptr<ipc::message_queue> &queue,
				std::unique_ptr<BoostQueueLock> &lock)
{
	queue = std::make_unique<ipc::message_queue>(ipc::open_only, name.c_str());
	lock = std::make_unique<BoostQueueLock>(name.c_str());
}

// The receiver of a fan-in meets its senders in turn. After the last, only their names remain.
int name_for_sender(icepath_endpoint *end, const std::string &sender)
{
	const std::string folder = "/dev/shm/"; // where glibc's shm_open creates them
	if (link((folder + end->names[1]).c_str(), (folder + sender).c_str()))
		return end->failed("link in /dev/shm");
	if (end->peer_pidfds.size() == end->peers)
		end->remove_names();
	return ICEPATH_OK;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	const std::string names = text_of(*peer), first = names.substr(0, names.find(kBetweenNames)),
					  second = names.substr(std::min(first.size() + 1, names.size()));
	if (end->in_fan_in() && end->makes())
		return name_for_sender(end, first);
	if (end->makes()) {
		end->remove_names(); // the peer connects first and has them open
		return ICEPATH_OK;
	}
	try {
		if (end->receives)
			open_queue(first, end->in, end->in_lock);
		if (end->sends)
			open_queue(end->in_fan_in() ? end->names[0] : second, end->out, end->out_lock);
		if (end->in_fan_in())
			end->remove_names();
	} catch (const std::exception &error) {
		return end->sentence.tell(ICEPATH_FAILED, "boost-mq: opening a queue failed: %s", error.what());
	}
	return ICEPATH_OK;
}

// Runs one library call as if it were a system call. `call` returns whether a message moved, and sets its size.
template <class Call> ssize_t as_call(Call call)
{
	size_t bytes = 0;
	try {
		if (call(bytes))
			return static_cast<ssize_t>(bytes);
		errno = EAGAIN;
	} catch (const ipc::interprocess_exception &) {
		errno = EIO;
	}
	return -1;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	ipc::message_queue &queue = *end->out;
	const bool polls = end->wait == ICEPATH_WAIT_POLL;
	const int status = send_by_calls(*end, *message, "message_queue::send", [&](const void *data, size_t size) {
		return as_call([&](size_t &bytes) {
			bytes = size;
			return polls ? queue.try_send(data, size, 0) : queue.timed_send(data, size, 0, end->deadline.get());
		});
	});
	// cancel(), perhaps of another sender's end, frees a sender stuck in the lock of a dead receiver: there was room,
	// but nobody takes the message.
	if (status == ICEPATH_OK && message->return_ns - message->call_ns > kLongNs && end->a_peer_has_ended())
		return end->sentence.tell(ICEPATH_CLOSED, "the process at the other end of boost-mq has ended");
	return status;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	ipc::message_queue &queue = *end->in;
	const bool polls = end->wait == ICEPATH_WAIT_POLL;
	return recv_by_calls<Boundary::Message>(
		*end, *message, "message_queue::receive", -1, [&](void *data, size_t capacity) {
			return as_call([&](size_t &bytes) {
				unsigned priority = 0;
				return polls ? queue.try_receive(data, capacity, bytes, priority)
							 : queue.timed_receive(data, capacity, bytes, priority, end->deadline.get());
			});
		});
}

// Called by another thread than the stuck one.
void cancel_end(icepath_endpoint *end)
{
	end->cancelled.store(true, std::memory_order_relaxed);
	if (!end->a_peer_has_ended())
		return;
	for (BoostQueueLock *lock : {end->in_lock.get(), end->out_lock.get()})
		if (lock)
			lock->release();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		static char version[32];
		std::snprintf(version, sizeof(version), "Boost %d.%d", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000);
		icepath_plugin table = plugin_table("boost-mq", target, open_end, connect_end, send_message, recv_message);
		table.cancel = cancel_end;
		table.library_version = version;
		return table;
	}();
	return &plugin;
}
