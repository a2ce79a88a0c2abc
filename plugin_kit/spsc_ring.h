// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ring in shared memory with one producer and one consumer. The producer fills the slot at `published`, then raises
// `published`; the consumer empties the slot at `taken`, then raises `taken`. Both count messages and wrap at 2^32.
#include <atomic>

#include "plugin_kit/ring_shape.h"

namespace icepath::plugin_kit {

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

} // namespace icepath::plugin_kit
