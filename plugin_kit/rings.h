// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rings in shared memory: one producer and one consumer, or many of both.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>

namespace icepath::plugin_kit {

struct RingShape {
	uint32_t slots; // a power of two, at least 2
	uint64_t payload_bytes;
};

constexpr uint64_t to_cache_lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// The requested number of slots (0: 16), rounded to a power of two and limited to what fits into `most_bytes`.
inline uint32_t slots_for(uint32_t asked, uint64_t slot_bytes, uint64_t most_bytes)
{
	constexpr uint32_t kDefault = 16, kMost = 1u << 20;
	const uint64_t fitting = std::bit_floor(std::max<uint64_t>(2, most_bytes / slot_bytes));
	const uint64_t wanted = std::max<uint64_t>(2, std::bit_ceil(asked ? std::min(asked, kMost) : kDefault));
	return static_cast<uint32_t>(std::min(wanted, fitting));
}

// A ring in shared memory with one producer and one consumer. The producer fills the slot at `published`, then raises
// `published`; the consumer empties the slot at `taken`, then raises `taken`. Both count messages and wrap at 2^32.
//
// One process's view of the ring. It keeps its own counter, and the producer also the last value seen of the
// consumer's, so that the other side's cache line is read only when needed.
class SpscRing {
public:
	static constexpr bool kPassesOn = false;
	static uint64_t slot_bytes(uint64_t payload_bytes) { return to_cache_lines(payload_bytes); }
	static uint64_t bytes(const RingShape &shape)
	{
		return sizeof(Shared) + shape.slots * slot_bytes(shape.payload_bytes);
	}
	static void make(void *, const RingShape &) {} // zeroed memory suffices

	void attach(void *memory, const RingShape &shape)
	{
		shared_ = static_cast<Shared *>(memory);
		mask_ = shape.slots - 1;
		slot_bytes_ = slot_bytes(shape.payload_bytes);
	}

	// Producer. NULL: full. Returns the same slot until it is published.
	void *room() { return has_room() ? slot(mine_) : nullptr; }
	bool has_room()
	{
		if (mine_ - seen_ <= mask_)
			return true;
		seen_ = shared_->taken.load(std::memory_order_acquire);
		return mine_ - seen_ <= mask_;
	}
	void publish() { shared_->published.store(++mine_, std::memory_order_release); }

	// Consumer. NULL: empty. Returns the same message until it is released.
	const void *message() { return has_message() ? slot(mine_) : nullptr; }
	bool has_message() { return shared_->published.load(std::memory_order_acquire) != mine_; }
	void release() { shared_->taken.store(++mine_, std::memory_order_release); }

private:
	struct Shared {
		alignas(64) std::atomic<uint32_t> published;
		alignas(64) std::atomic<uint32_t> taken;
	};
	static_assert(sizeof(Shared) == 128);

	uint8_t *slot(uint32_t message) const
	{
		return reinterpret_cast<uint8_t *>(shared_ + 1) + (message & mask_) * slot_bytes_;
	}

	Shared *shared_ = nullptr;
	uint32_t mask_ = 0, mine_ = 0, seen_ = 0;
	uint64_t slot_bytes_ = 0;
};

// A ring in shared memory with any number of producers and consumers: the bounded queue of Dmitry Vyukov
// (https://www.1024cores.net/home/lock-free-algorithms/queues/bounded-mpmc-queue). The sequence number of a cell says
// whose turn it is: n: the producer of message n; n + 1: its consumer; n + slots: the producer of the next message in
// this cell. A place is claimed by compare-and-swap on the counter of producers or of consumers.
//
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
