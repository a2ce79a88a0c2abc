// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ring in shared memory with any number of producers and consumers: the bounded queue of Dmitry Vyukov
// (https://www.1024cores.net/home/lock-free-algorithms/queues/bounded-mpmc-queue). The sequence number of a cell says
// whose turn it is: n: the producer of message n; n + 1: its consumer; n + slots: the producer of the next message in
// this cell. A place is claimed by compare-and-swap on the counter of producers or of consumers.
#include <atomic>
#include <new>

#include "plugin_kit/ring_shape.h"

namespace icepath::plugin_kit {

// One process's view of the ring.
class MpmcRing {
public:
	// A consumer woken for a later cell may find an earlier one unpublished and sleep again; one wake then has to serve
	// for both messages. So a consumer wakes the next one while messages remain; producers likewise.
	static constexpr bool kPassesOn = true;
	static uint64_t slot_bytes(uint64_t payload_bytes) { return to_cache_lines(sizeof(Cell) + payload_bytes); }
	static uint64_t bytes(const RingShape &shape)
	{
		return sizeof(Shared) + shape.slots * slot_bytes(shape.payload_bytes);
	}
	static void make(void *memory, const RingShape &shape)
	{
		MpmcRing ring;
		ring.attach(memory, shape);
		for (uint64_t n = 0; n < shape.slots; n++)
			ring.cell(n).turn.store(n, std::memory_order_relaxed);
	}

	void attach(void *memory, const RingShape &shape)
	{
		shared_ = static_cast<Shared *>(memory);
		slots_ = shape.slots;
		slot_bytes_ = slot_bytes(shape.payload_bytes);
	}

	// Producer. NULL: full. A claimed slot must be published.
	void *room() { return claim(shared_->produced, 0); }
	bool has_room() const { return is_due(shared_->produced, 0); }
	void publish() { cell(mine_).turn.store(mine_ + 1, std::memory_order_release); }

	// Consumer. NULL: empty. A claimed message must be released.
	const void *message() { return claim(shared_->consumed, 1); }
	bool has_message() const { return is_due(shared_->consumed, 1); }
	void release() { cell(mine_).turn.store(mine_ + slots_, std::memory_order_release); }

private:
	using Counter = std::atomic<uint64_t>;
	static_assert(Counter::is_always_lock_free);
	struct Shared {
		alignas(64) Counter produced;
		alignas(64) Counter consumed;
	};
	static_assert(sizeof(Shared) == 128);
	struct Cell {
		std::atomic<uint64_t> turn;
		// The message follows.
	};

	Cell &cell(uint64_t n) const
	{
		return *reinterpret_cast<Cell *>(reinterpret_cast<uint8_t *>(shared_ + 1) + (n & (slots_ - 1)) * slot_bytes_);
	}

	// Place n's turn is due at n + `offset`: below 0, the cell isn't ready yet; above 0, it is taken.
	int64_t ahead(uint64_t n, uint64_t offset) const
	{
		return static_cast<int64_t>(cell(n).turn.load(std::memory_order_acquire) - (n + offset));
	}

	bool is_due(const Counter &counter, uint64_t offset) const
	{
		return ahead(counter.load(std::memory_order_relaxed), offset) >= 0;
	}

	void *claim(Counter &counter, uint64_t offset)
	{
		uint64_t n = counter.load(std::memory_order_relaxed);
		for (;;) {
			const int64_t turn = ahead(n, offset);
			if (turn < 0)
				return nullptr;
			if (turn > 0) {
				n = counter.load(std::memory_order_relaxed);
			} else if (counter.compare_exchange_weak(n, n + 1, std::memory_order_relaxed)) {
				mine_ = n;
				return &cell(n) + 1;
			}
		}
	}

	Shared *shared_ = nullptr;
	uint64_t slots_ = 0, slot_bytes_ = 0, mine_ = 0;
};

} // namespace icepath::plugin_kit
