// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/callback.h"

#include <unistd.h>

#include "profiler/worker/plugin_abi.h"
#include "profiler/worker/watchdog.h"

namespace icepath::worker {

Outcome Callback::run(Steps &steps, const std::function<int()> &reason)
{
	std::unique_lock lock(mutex_);
	steps_ = &steps;
	goes_on_ = steps.begin();
	ended_.wait(lock, [this] { return !goes_on_ || cancelled_; });
	steps_ = nullptr;
	if (goes_on_) {
		const int status = reason(); // a plug-in that returns a message breaks the rule
		steps.fail(status == ICEPATH_OK ? ICEPATH_CANCELLED : status);
	}
	return std::move(steps.outcome);
}

// The watchdog repeats it, so a notification that comes just before run() sleeps does no harm.
void Callback::cancel()
{
	cancelled_ = true;
	ended_.notify_one();
	if (const pid_t thread = inside_)
		interrupt(thread);
}

void Callback::handle(void *self, int status, icepath_recv *message)
{
	const uint64_t recv_ns = icepath_now_ns(); // before the lock, which isn't part of the delivery
	const auto whole = whole_struct<icepath_recv>(message, kSmallestRecv);
	static_cast<Callback *>(self)->handle(whole ? status : ICEPATH_FAILED, whole.value_or(icepath_recv{}), recv_ns);
}

void Callback::handle(int status, const icepath_recv &message, uint64_t recv_ns)
{
	static thread_local const pid_t tid = gettid();
	const std::lock_guard lock(mutex_);
	if (!steps_ || !goes_on_)
		return;
	inside_.store(tid, std::memory_order_relaxed);
	last_thread_ = tid;
	goes_on_ = status == ICEPATH_OK ? steps_->take({message, message.data, recv_ns, static_cast<uint32_t>(tid)})
									: steps_->fail(status);
	inside_.store(0, std::memory_order_relaxed);
	if (!goes_on_)
		ended_.notify_one();
}

} // namespace icepath::worker
