// SPDX-License-Identifier: Apache-2.0
#pragma once
// An end of a channel whose library or broker accepts messages however far the receiver lags. Each sender has a window,
// as programs have through their receivers' answers: it sleeps while that many messages haven't been taken yet. Taken
// ones are counted in memory that both ends map, which costs no call per message.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "plugin_kit/channel_end.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/shared_mapping.h"

namespace icepath::plugin_kit {

// Of one direction, in shared memory; starts zeroed.
struct SendWindow {
	alignas(64) std::atomic<uint32_t> taken; // messages; wraps
	alignas(64) std::atomic<uint32_t> sender_sleeps;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

struct WindowedEnd : SharedMemoryEnd {
	static constexpr uint64_t kWindowBytes = 8 * 1024 * 1024;
	static constexpr uint64_t kLongestWindow = 256; // messages

	const uint32_t window;
	SendWindow *in = nullptr, *out = nullptr;
	uint32_t sent = 0, seen_taken = 0; // in `out`
	DeathWatch watch; // nothing else reports the peer's death

	WindowedEnd(const icepath_open &how, const icepath_target &what, uint64_t longest_window = kLongestWindow)
		: SharedMemoryEnd(how, what), window(window_of(how, longest_window))
	{}
	virtual ~WindowedEnd() = default;

	static uint32_t window_of(const icepath_open &how, uint64_t longest)
	{
		const uint64_t fits =
			std::clamp<uint64_t>(kWindowBytes / how.payload_bytes, std::min<uint64_t>(longest, 2), longest);
		return static_cast<uint32_t>(how.depth ? std::min<uint64_t>(how.depth, fits) : fits);
	}
	uint64_t memory_bytes() const { return 2 * sizeof(SendWindow); }
	void lay_out(uint8_t *first)
	{
		auto *windows = reinterpret_cast<SendWindow *>(first);
		out = windows + side;
		in = windows + (1 - side);
	}

	virtual bool is_over() const { return is_cancelled(); }
	virtual int end_of_call() { return end_of_cancelled(); }
	int check_over() { return is_over() ? end_of_call() : ICEPATH_OK; }

	// Before each message. Sleeps while the window is full.
	int await_room()
	{
		constexpr timespec kLook{0, 100'000'000};
		while (sent - seen_taken >= window) {
			seen_taken = out->taken.load(std::memory_order_acquire);
			if (sent - seen_taken < window)
				break;
			if (is_over())
				return end_of_call();
			if (const int status = watch.look(*this, icepath_now_ns()); status != ICEPATH_OK)
				return status;
			out->sender_sleeps.store(1, std::memory_order_relaxed);
			std::atomic_thread_fence(std::memory_order_seq_cst);
			syscall(SYS_futex, &out->taken, FUTEX_WAIT, seen_taken, &kLook, nullptr, 0);
			out->sender_sleeps.store(0, std::memory_order_relaxed);
		}
		return check_over();
	}

	// Before a slot for a message of that size is lent.
	int may_lend(uint64_t bytes) { return is_over() ? end_of_call() : check_slot(bytes); }

	// After each message and its stamps.
	int end_of_send(uint64_t now_ns)
	{
		sent++;
		return watch.look(*this, now_ns);
	}
	void tell_of_room()
	{
		in->taken.fetch_add(1, std::memory_order_release);
		std::atomic_thread_fence(std::memory_order_seq_cst);
		if (in->sender_sleeps.load(std::memory_order_relaxed))
			syscall(SYS_futex, &in->taken, FUTEX_WAKE, 1, nullptr, nullptr, 0);
	}
};

} // namespace icepath::plugin_kit
