// SPDX-License-Identifier: Apache-2.0
// Rings in shared memory, one for each direction, with one producer and one consumer: fixed slots of the payload's
// size.
//
// The producer fills the slot at `published` and then raises `published`; the consumer empties the slot at `taken` and
// then raises `taken`. Both count messages, wrap at 2^32 and double as futex words. Whoever would sleep raises its
// `sleeps` flag first, and the other side makes the futex call only where that flag is up. No wake is lost: the sleeper
// raises the flag and then compares the counter (in the kernel, under the futex's lock), the other raises the counter
// and then looks at the flag, with a sequentially consistent fence between both steps on either side, so at least one
// of them sees the other.
#include <linux/futex.h>

#include <algorithm>
#include <bit>

#include "transports/kernel_limit.h"
#include "transports/plugin_table.h"
#include "transports/shared_mapping.h"

using namespace icepath::transports;

namespace {

struct Ring {
	alignas(64) std::atomic<uint32_t> published;
	alignas(64) std::atomic<uint32_t> taken;
	alignas(64) std::atomic<uint32_t> consumer_sleeps;
	alignas(64) std::atomic<uint32_t> producer_sleeps;
	// The slots follow.
	uint8_t *slot(uint32_t message, uint32_t slots, uint64_t slot_bytes)
	{
		return reinterpret_cast<uint8_t *>(this + 1) + (message & (slots - 1)) * slot_bytes;
	}
};
static_assert(sizeof(Ring) == 256 && std::atomic<uint32_t>::is_always_lock_free);

constexpr uint64_t kLargest = 64 * kMiB;
constexpr uint32_t kDefaultSlots = 16;
constexpr uint64_t kLargestRing = 2 * kLargest;

} // namespace

struct icepath_endpoint : SharedMemoryEnd {
	using SharedMemoryEnd::SharedMemoryEnd;
	Ring *in = nullptr, *out = nullptr;
	uint32_t slots = 0;
	uint64_t slot_bytes = 0;

	uint64_t ring_bytes() const { return sizeof(Ring) + slots * slot_bytes; }
	uint64_t memory_bytes() const { return 2 * ring_bytes(); }
	void lay_out(uint8_t *first)
	{
		out = reinterpret_cast<Ring *>(first + (side == 0 ? 0 : ring_bytes()));
		in = reinterpret_cast<Ring *>(first + (side == 0 ? ring_bytes() : 0));
	}
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target ring = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "shm-ring";
		it.summary =
			"lock-free ring in shared memory (Boost.Interprocess); block sleeps on a futex, poll spins on a load";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		it.mechanisms = ICEPATH_USES_USER_SLOT;
		it.capabilities = ICEPATH_CAN_PINGPONG;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: a ring has at least two slots of the payload's size";
		return it;
	}();
	return n == 0 ? &ring : nullptr;
}

void pause_spin()
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield");
#endif
}

// Without FUTEX_PRIVATE_FLAG: the word is shared between processes.
void futex_wait(std::atomic<uint32_t> &word, uint32_t expected)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<uint32_t> &word) { syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

// Sleeps until `counter` is no longer `seen`, a signal comes, or it is woken for nothing.
void sleep_on(std::atomic<uint32_t> &counter, uint32_t seen, std::atomic<uint32_t> &sleeps)
{
	sleeps.store(1, std::memory_order_relaxed);
	std::atomic_thread_fence(std::memory_order_seq_cst);
	futex_wait(counter, seen);
	sleeps.store(0, std::memory_order_relaxed);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	Ring &ring = *end->out;
	message->call_ns = message->publish_ns = message->return_ns = 0;
	message->attempts = 0;
	const uint32_t mine = ring.published.load(std::memory_order_relaxed);
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		const uint32_t taken = ring.taken.load(std::memory_order_acquire);
		if (mine - taken < end->slots)
			break;
		if (end->wait == ICEPATH_WAIT_BLOCK)
			sleep_on(ring.taken, taken, ring.producer_sleeps);
		else
			pause_spin();
	}
	std::memcpy(ring.slot(mine, end->slots, end->slot_bytes), message->data, end->payload_bytes);
	message->publish_ns = icepath_now_ns();
	ring.published.store(mine + 1, std::memory_order_release);
	if (end->wait == ICEPATH_WAIT_BLOCK) {
		std::atomic_thread_fence(std::memory_order_seq_cst);
		if (ring.consumer_sleeps.load(std::memory_order_relaxed)) {
			message->call_ns = icepath_now_ns();
			futex_wake(ring.published);
			message->return_ns = icepath_now_ns();
		}
	}
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	Ring &ring = *end->in;
	message->ask_ns = icepath_now_ns();
	message->wait_return_ns = message->take_call_ns = message->take_return_ns = 0;
	message->attempts = 0;
	if (message->capacity < end->payload_bytes)
		return end->sentence.tell(ICEPATH_FAILED, "shm-ring: the receive buffer is smaller than the payload");
	const uint32_t next = ring.taken.load(std::memory_order_relaxed);
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		if (ring.published.load(std::memory_order_acquire) != next) {
			message->observe_ns = icepath_now_ns();
			break;
		}
		if (end->wait == ICEPATH_WAIT_BLOCK) {
			sleep_on(ring.published, next, ring.consumer_sleeps);
			message->wait_return_ns = icepath_now_ns();
		} else {
			pause_spin();
		}
	}
	std::memcpy(message->data, ring.slot(next, end->slots, end->slot_bytes), end->payload_bytes);
	message->bytes = end->payload_bytes;
	ring.taken.store(next + 1, std::memory_order_release);
	if (end->wait == ICEPATH_WAIT_BLOCK) {
		std::atomic_thread_fence(std::memory_order_seq_cst);
		if (ring.producer_sleeps.load(std::memory_order_relaxed))
			futex_wake(ring.taken);
	}
	return ICEPATH_OK;
}

void choose_geometry(icepath_endpoint &end, uint32_t depth)
{
	end.slot_bytes = (end.payload_bytes + 63) / 64 * 64;
	const uint64_t fitting = std::bit_floor(std::max<uint64_t>(2, kLargestRing / end.slot_bytes));
	end.slots = static_cast<uint32_t>(
		std::min<uint64_t>(std::bit_ceil(depth ? std::min(depth, 1u << 20) : kDefaultSlots), fitting));
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, [=](icepath_endpoint &end) {
		choose_geometry(end, how->depth);
		return set_up_memory(end);
	});
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("shm-ring", target, open_end, connect_memory<icepath_endpoint>, send_message, recv_message);
	return &plugin;
}
