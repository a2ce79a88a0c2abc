// SPDX-License-Identifier: Apache-2.0
// Messages in shared memory, one queue of slots for each direction, and an eventfd that announces each: one write(2)
// per message, one read(2) before it is taken, as in programs that wait for descriptors anyway. With EFD_SEMAPHORE, a
// read takes one of the writes. For a receiver that looks into the memory first, see shm_ring.cc.
//
// The eventfd announces messages only. A sender that finds the queue full sleeps on a futex; the flag and the fences
// work as in plugin_kit/ring_wait.h.
#include <linux/futex.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/shared_mapping.h"

using namespace icepath::plugin_kit;

namespace {

// One producer, one consumer; both counters wrap at 2^32.
struct Queue {
	alignas(64) std::atomic<uint32_t> published;
	alignas(64) std::atomic<uint32_t> taken;
	alignas(64) std::atomic<uint32_t> producer_sleeps;
	// The slots follow.
	uint8_t *slot(uint64_t offset) { return reinterpret_cast<uint8_t *>(this + 1) + offset; }
};
static_assert(sizeof(Queue) == 192 && std::atomic<uint32_t>::is_always_lock_free);

constexpr uint64_t kLargest = 64 * kMiB;
constexpr uint64_t kLargestQueue = 2 * kLargest;
constexpr uint32_t kDefaultSlots = 16;

struct Way {
	Queue *queue = nullptr;
	int bell = -1;
	uint32_t messages = 0; // sent or taken by this side
	uint64_t offset = 0; // of the next slot
};

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({memory_fd, in.bell, out.bell, epoll}); }
	boost::interprocess::mapped_region memory;
	int memory_fd = -1, epoll = -1;
	Way in, out;
	uint32_t slots = 0;
	uint64_t slot_bytes = 0;

	uint64_t queue_bytes() const { return sizeof(Queue) + slots * slot_bytes; }
	uint64_t memory_bytes() const { return 2 * queue_bytes(); }
	void advance(Way &way) const
	{
		way.messages++;
		way.offset = way.offset + slot_bytes == slots * slot_bytes ? 0 : way.offset + slot_bytes;
	}
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target eventfd = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "eventfd";
		it.summary = "slots in shared memory, and an eventfd that is written and read for each message";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_USER_SLOT | ICEPATH_USES_BELL; // see listen()
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: a queue has at least two slots of the payload's size";
		return it;
	}();
	return n == 0 ? &eventfd : nullptr;
}

// Sleeps until there is room, or a signal comes; a poller returns at once.
void wait_for_room(const icepath_endpoint &end, Queue &queue, uint32_t taken)
{
	if (end.wait == ICEPATH_WAIT_POLL)
		return;
	queue.producer_sleeps.store(1, std::memory_order_relaxed);
	std::atomic_thread_fence(std::memory_order_seq_cst);
	syscall(SYS_futex, &queue.taken, FUTEX_WAIT, taken, nullptr, nullptr, 0);
	queue.producer_sleeps.store(0, std::memory_order_relaxed);
}

void tell_of_room(const icepath_endpoint &end, Queue &queue)
{
	if (end.wait == ICEPATH_WAIT_POLL)
		return;
	std::atomic_thread_fence(std::memory_order_seq_cst);
	if (queue.producer_sleeps.load(std::memory_order_relaxed))
		syscall(SYS_futex, &queue.taken, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	Way &way = end->out;
	message->attempts = 0;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		const uint32_t taken = way.queue->taken.load(std::memory_order_acquire);
		if (way.messages - taken < end->slots)
			break;
		wait_for_room(*end, *way.queue, taken);
	}
	std::memcpy(way.queue->slot(way.offset), message->data, end->payload_bytes);
	end->advance(way);
	message->publish_ns = icepath_now_ns();
	way.queue->published.store(way.messages, std::memory_order_release);
	constexpr uint64_t kOne = 1;
	message->call_ns = icepath_now_ns();
	// Never blocks: a count holds 2^64 - 2 messages.
	const ssize_t written = write(way.bell, &kOne, sizeof(kOne));
	message->return_ns = icepath_now_ns();
	return written == sizeof(kOne) ? ICEPATH_OK : end->failed("write to an eventfd");
}

// One try to take a count; ICEPATH_OK with `rung` false: try again. The read ends the wait, and takes no message.
int listen(icepath_endpoint &end, icepath_recv &message, bool &rung)
{
	if (end.wait == ICEPATH_WAIT_EPOLL) {
		epoll_event event;
		if (epoll_wait(end.epoll, &event, 1, -1) < 0)
			return judge(end, errno, "epoll_wait");
	}
	uint64_t count = 0;
	const ssize_t bytes = read(end.in.bell, &count, sizeof(count));
	if (end.wait != ICEPATH_WAIT_POLL)
		message.wait_return_ns = icepath_now_ns();
	message.attempts++;
	rung = bytes == sizeof(count);
	return rung ? ICEPATH_OK : judge(end, errno, "read from an eventfd");
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	Way &way = end->in;
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	for (bool rung = false; !rung;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (const int status = listen(*end, *message, rung); status != ICEPATH_OK)
			return status;
	}
	const bool is_there = way.queue->published.load(std::memory_order_acquire) != way.messages;
	message->observe_ns = icepath_now_ns();
	if (!is_there)
		return end->sentence.tell(ICEPATH_FAILED, "eventfd: it announced a message that isn't there");
	std::memcpy(message->data, way.queue->slot(way.offset), end->payload_bytes);
	message->bytes = end->payload_bytes;
	end->advance(way);
	way.queue->taken.store(way.messages, std::memory_order_release);
	tell_of_room(*end, *way.queue);
	return ICEPATH_OK;
}

int map_queues(icepath_endpoint &end)
{
	if (const int status = map_shared_memory(end.memory_fd, end.memory_bytes(), end.memory, end.sentence);
		status != ICEPATH_OK)
		return status;
	auto *first = static_cast<uint8_t *>(end.memory.get_address());
	auto *second = first + end.queue_bytes();
	end.out.queue = reinterpret_cast<Queue *>(end.side == 0 ? first : second);
	end.in.queue = reinterpret_cast<Queue *>(end.side == 0 ? second : first);
	return ICEPATH_OK;
}

int give_copy(icepath_endpoint &end, int fd)
{
	const int theirs = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (theirs < 0)
		return end.failed("fcntl(F_DUPFD_CLOEXEC)");
	end.give(theirs);
	return ICEPATH_OK;
}

// The address: the memory, the bell from side 0 to side 1, the bell back.
int set_up(icepath_endpoint &end, uint32_t depth)
{
	end.slot_bytes = (end.payload_bytes + 63) / 64 * 64;
	end.slots = static_cast<uint32_t>(std::min<uint64_t>(depth ? std::clamp(depth, 2u, 1u << 20) : kDefaultSlots,
														 std::max<uint64_t>(2, kLargestQueue / end.slot_bytes)));
	if (end.side == 1)
		return ICEPATH_OK;
	end.memory_fd = make_shared_memory(end.memory_bytes());
	if (end.memory_fd < 0)
		return end.failed("memfd_create");
	const int flags = EFD_SEMAPHORE | EFD_CLOEXEC | (end.wait == ICEPATH_WAIT_BLOCK ? 0 : EFD_NONBLOCK);
	end.out.bell = eventfd(0, flags);
	end.in.bell = eventfd(0, flags);
	if (end.out.bell < 0 || end.in.bell < 0)
		return end.failed("eventfd");
	for (const int fd : {end.memory_fd, end.out.bell, end.in.bell})
		if (const int status = give_copy(end, fd); status != ICEPATH_OK)
			return status;
	return map_queues(end);
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address,
						 [=](icepath_endpoint &end) { return set_up(end, how->depth); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side == 0 ? 0 : 3); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		end->memory_fd = peer->fds[0];
		end->in.bell = peer->fds[1];
		end->out.bell = peer->fds[2];
		if (const int status = map_queues(*end); status != ICEPATH_OK)
			return status;
	}
	if (end->wait == ICEPATH_WAIT_EPOLL && (end->epoll = open_epoll(end->in.bell)) < 0)
		return end->failed("epoll");
	return ICEPATH_OK;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("eventfd", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
