// SPDX-License-Identifier: Apache-2.0
#pragma once
// A receiver sleeps here until its library's thread calls ring(), from the callback for new data.
#include "plugin_kit/ring_wait.h"

namespace icepath::plugin_kit {

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
