// SPDX-License-Identifier: Apache-2.0
#pragma once
// On which a receiver sleeps until a thread of its library rings, in the function that the library calls back as soon as there are data.
#include "plugin_kit/ring_wait.h"

namespace icepath::plugin_kit {

class DataBell {
public:
	DataBell() { bell_.hang(plugin_kit::BellMake::Futex, shared_, -1); }
	DataBell(const DataBell &) = delete;
	DataBell &operator=(const DataBell &) = delete;

	// By any thread.
	void ring()
	{
		has_rung_.store(true, std::memory_order_release);
		if (bell_.is_awaited())
			bell_.ring();
	}
	// Until it has rung since this came back last, or a signal comes. When it came back; 0: it didn't sleep.
	uint64_t sleep()
	{
		const uint64_t back_ns =
			bell_.sleep_unless([this] { return has_rung_.exchange(false, std::memory_order_acquire); });
		if (back_ns != 0) // what has rung since then is looked for before it sleeps again
			has_rung_.store(false, std::memory_order_relaxed);
		return back_ns;
	}

private:
	plugin_kit::SharedBell shared_{};
	plugin_kit::Bell bell_;
	std::atomic<bool> has_rung_{false};
};

} // namespace icepath::plugin_kit
