// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

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
