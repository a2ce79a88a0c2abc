// SPDX-License-Identifier: Apache-2.0
#pragma once
// Receiving by callback: a thread of the library goes through a side's steps for each message, and the side's own
// thread sleeps until the block ends.
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "icepath/plugin.h"
#include "profiler/worker/block_loop.h"

namespace icepath::worker {

// One endpoint's handler. It outlives the endpoint.
class Callback {
public:
	icepath_handler handler() { return {handle, this}; }

	// Begins in the calling thread, which holds the handler off meanwhile, then sleeps until a step ends the block.
	// After cancel() the block fails by the icepath_status that `reason` returns.
	Outcome run(Steps &steps, const std::function<int()> &reason);

	// Any thread, after the endpoint's cancel(): ends run(), and interrupts a thread that is in the handler.
	void cancel();

	pid_t last_thread() const { return last_thread_; } // the last to call the handler; 0: none yet. Between blocks

private:
	static void handle(void *self, int status, icepath_recv *message);
	void handle(int status, const icepath_recv &message, uint64_t recv_ns);

	std::mutex mutex_; // guards what follows, up to `ended_`
	Steps *steps_ = nullptr; // of the block under way; nullptr: none, and messages are dropped
	bool goes_on_ = false;
	pid_t last_thread_ = 0;
	std::condition_variable ended_;
	std::atomic<bool> cancelled_{false};
	std::atomic<pid_t> inside_{0}; // the thread that is in the handler
};

// After the endpoint's cancel(): why no message comes.
inline int reason_of(Cell &cell)
{
	icepath_recv none{};
	none.size = sizeof(none);
	none.data = cell.receive_buffer;
	none.capacity = cell.payloads.bytes();
	const void *place = nullptr;
	return recv_at(cell, place, none);
}

template <class Its> Outcome receive(Cell &cell, Its steps)
{
	return cell.callback ? cell.callback->run(steps, [&] { return reason_of(cell); }) : in_own_thread(cell, steps);
}

} // namespace icepath::worker
