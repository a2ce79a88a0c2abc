// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ends a block that hangs. Its thread sleeps on a timer. Arming and disarming don't wake it, so it runs in no other
// block.
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <thread>

#include "profiler/channel.h"

namespace icepath::worker {

inline timespec to_timespec(uint64_t ns)
{
	return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

// Makes a blocking system call of a thread of this process fail with EINTR, once a Watchdog was made.
void interrupt(pid_t tid);

class Watchdog {
public:
	// Interrupts the thread that constructs it. Throws Failure(MachineCannot).
	Watchdog();
	~Watchdog();
	Watchdog(const Watchdog &) = delete;
	Watchdog &operator=(const Watchdog &) = delete;

	// From `at_ns` on, every 10 ms until disarmed, calls `cancel` and interrupts the thread's system call.
	void arm(uint64_t at_ns, std::function<void()> cancel);
	// When it returns, `cancel` isn't running and won't be called again.
	void disarm();

private:
	void watch();
	void set_timer(uint64_t at_ns);

	Fd timer_;
	pid_t watched_;
	std::mutex mutex_;
	std::function<void()> cancel_; // null: not armed
	bool leaving_ = false;
	std::thread thread_;
};

} // namespace icepath::worker
