// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sleeping until a ring in shared memory has a message, or room: one bell for each, in one of three makes.
//
// A process about to sleep counts itself as a sleeper, then looks at the ring once more; a process that has changed the
// ring looks for sleepers then. A sequentially consistent fence between both steps on either side ensures that at least
// one sees the other (Dekker), so no wake is lost. The waker takes a sleeper off the count and leaves one token for it,
// so nobody rings for a thread that is already up. Tokens are kept until taken (in a futex word, a semaphore, an
// eventfd), so one that comes between the last look and the sleep isn't lost either. The counts must balance, or a
// sleeper remains uncounted: a taken token accounts for its sleeper; a thread that leaves without a token takes itself
// off the count or, if another has just done that, takes the token that is due.
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "icepath/plugin.h"
#include "plugin_kit/spin_pause.h"

namespace icepath::plugin_kit {

enum class BellMake { Futex, Semaphore, Eventfd };

// The part in shared memory; starts zeroed.
struct SharedBell {
	alignas(64) std::atomic<uint32_t> sleepers;
	std::atomic<uint32_t> tokens; // the futex word
	sem_t semaphore;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

class Bell {
public:
	// Call it in one process, once. Shared between processes and starting at 0, sem_init can't fail on Linux.
	static void make(SharedBell &shared) { sem_init(&shared.semaphore, 1, 0); }

	// `fd`: an eventfd, with EFD_SEMAPHORE, for BellMake::Eventfd; stays the caller's.
	void hang(BellMake make, SharedBell &shared, int fd)
	{
		make_ = make;
		shared_ = &shared;
		fd_ = fd;
	}
	// An epoll instance that watches the eventfd, to sleep in; -1: none.
	void sleep_in(int epoll) { epoll_ = epoll; }

	// Unless `is_there()`, sleeps until the bell rings or a signal comes. Returns when it woke; 0: it didn't sleep.
	template <class Look> uint64_t sleep_unless(Look is_there)
	{
		shared_->sleepers.fetch_add(1, std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_seq_cst);
		if (is_there()) {
			if (take_one_off())
				return 0;
			take_token();
			return icepath_now_ns();
		}
		const bool rung = take_token();
		const uint64_t back_ns = icepath_now_ns();
		if (!rung && !take_one_off())
			take_token();
		return back_ns;
	}

	// After a change to the ring: whether ring() is due. If so, the caller must call it.
	bool is_awaited()
	{
		std::atomic_thread_fence(std::memory_order_seq_cst);
		return take_one_off();
	}

	void ring()
	{
		constexpr uint64_t kOne = 1;
		switch (make_) {
		case BellMake::Futex: // without FUTEX_PRIVATE_FLAG: the word is shared between processes
			shared_->tokens.fetch_add(1, std::memory_order_relaxed);
			syscall(SYS_futex, &shared_->tokens, FUTEX_WAKE, 1, nullptr, nullptr, 0);
			break;
		case BellMake::Semaphore:
			sem_post(&shared_->semaphore);
			break;
		case BellMake::Eventfd: // never blocks: holds 2^64 - 2 rings
			[[maybe_unused]] const ssize_t written = write(fd_, &kOne, sizeof(kOne));
			break;
		}
	}

private:
	bool take_one_off()
	{
		uint32_t sleepers = shared_->sleepers.load(std::memory_order_relaxed);
		while (sleepers != 0)
			if (shared_->sleepers.compare_exchange_weak(sleepers, sleepers - 1, std::memory_order_relaxed))
				return true;
		return false;
	}

	// Sleeps until there is a token. False: a signal came.
	bool take_token()
	{
		uint64_t count = 0;
		epoll_event event;
		switch (make_) {
		case BellMake::Futex:
			return take_from_word();
		case BellMake::Semaphore: // glibc doesn't spin before it sleeps
			return sem_wait(&shared_->semaphore) == 0;
		case BellMake::Eventfd: // EFD_SEMAPHORE: one token per read
			return (epoll_ < 0 || epoll_wait(epoll_, &event, 1, -1) == 1) &&
				   read(fd_, &count, sizeof(count)) == sizeof(count);
		}
		return false;
	}

	bool take_from_word()
	{
		uint32_t tokens = shared_->tokens.load(std::memory_order_relaxed);
		for (;;) {
			while (tokens != 0)
				if (shared_->tokens.compare_exchange_weak(tokens, tokens - 1, std::memory_order_relaxed))
					return true;
			if (syscall(SYS_futex, &shared_->tokens, FUTEX_WAIT, 0, nullptr, nullptr, 0) < 0 && errno == EINTR)
				return false;
			tokens = shared_->tokens.load(std::memory_order_relaxed);
		}
	}

	BellMake make_ = BellMake::Futex;
	SharedBell *shared_ = nullptr;
	int fd_ = -1, epoll_ = -1;
};

// A receiver sleeps here until its library's thread calls ring(), from the callback for new data.
class DataBell {
public:
	DataBell() { bell_.hang(plugin_kit::BellMake::Futex, shared_, -1); }
	DataBell(const DataBell &) = delete;
	DataBell &operator=(const DataBell &) = delete;

	// Any thread.
	void ring()
	{
		has_rung_.store(true, std::memory_order_release);
		if (bell_.is_awaited())
			bell_.ring();
	}
	// Sleeps until ring() was called since the last sleep(), or a signal. Returns when it woke; 0: it didn't sleep.
	uint64_t sleep()
	{
		const uint64_t back_ns =
			bell_.sleep_unless([this] { return has_rung_.exchange(false, std::memory_order_acquire); });
		if (back_ns != 0) // data that rang since then are looked for before the next sleep
			has_rung_.store(false, std::memory_order_relaxed);
		return back_ns;
	}

private:
	plugin_kit::SharedBell shared_{};
	plugin_kit::Bell bell_;
	std::atomic<bool> has_rung_{false};
};

} // namespace icepath::plugin_kit
