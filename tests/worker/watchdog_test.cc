// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/watchdog.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "icepath/plugin.h"

namespace icepath::worker {
namespace {

TEST(Watchdog, InterruptsABlockedCallAgainAndAgain)
{
	int never[2];
	ASSERT_EQ(pipe(never), 0);
	std::atomic<int> cancels{0};
	Watchdog watchdog;
	watchdog.arm(icepath_now_ns(), [&] { cancels++; });
	for (int interrupted = 0; interrupted < 3;) { // hangs if the watchdog interrupts only once
		char byte = 0;
		ASSERT_EQ(read(never[0], &byte, 1), -1);
		ASSERT_EQ(errno, EINTR);
		interrupted++;
	}
	watchdog.disarm();
	EXPECT_GE(cancels, 1);
	close(never[0]);
	close(never[1]);
}

// A thread of the side's own priority would wait until the side sleeps.
TEST(Watchdog, EndsASideThatSpinsUnderFifo)
{
	const int cpu = sched_getcpu();
	bool may_fifo = true, ended_by_watchdog = false;
	std::thread side([&] {
		cpu_set_t here;
		CPU_ZERO(&here);
		CPU_SET(cpu, &here);
		sched_param lowest{};
		lowest.sched_priority = 1;
		may_fifo = sched_setaffinity(0, sizeof(here), &here) == 0 && sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
		if (!may_fifo)
			return;
		std::atomic<bool> cancelled{false};
		Watchdog watchdog;
		const uint64_t begin_ns = icepath_now_ns();
		watchdog.arm(begin_ns + 20'000'000, [&] { cancelled = true; });
		constexpr uint64_t kLongestNs = 500'000'000; // less than the kernel leaves to real-time tasks in a second
		while (!cancelled && icepath_now_ns() < begin_ns + kLongestNs) {
		}
		ended_by_watchdog = cancelled;
		watchdog.disarm();
	});
	side.join();
	if (!may_fifo)
		GTEST_SKIP() << "needs the right to SCHED_FIFO";
	EXPECT_TRUE(ended_by_watchdog);
}

TEST(Watchdog, DoesNothingAfterDisarm)
{
	std::atomic<int> cancels{0};
	Watchdog watchdog;
	for (int round = 0; round < 200; round++) {
		watchdog.arm(icepath_now_ns() + 10'000, [&] { cancels++; });
		watchdog.disarm();
		const int after = cancels;
		usleep(100);
		EXPECT_EQ(cancels, after);
	}
}

TEST(Watchdog, CanBeArmedForTheNextBlock)
{
	std::atomic<int> first{0}, second{0};
	Watchdog watchdog;
	watchdog.arm(icepath_now_ns() + 60'000'000'000, [&] { first++; });
	watchdog.disarm();
	watchdog.arm(icepath_now_ns(), [&] { second++; });
	while (second == 0)
		usleep(1000);
	watchdog.disarm();
	EXPECT_EQ(first, 0);
}

} // namespace
} // namespace icepath::worker
