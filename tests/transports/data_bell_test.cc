// SPDX-License-Identifier: Apache-2.0
// The bell by which a library's thread wakes a receiver.
#include "plugin_kit/ring_wait.h"

#include <gtest/gtest.h>

#include <thread>

namespace icepath::plugin_kit {
namespace {

std::thread ring_later(DataBell &bell, std::atomic<bool> &rang)
{
	return std::thread([&] {
		usleep(50'000); // the other thread sleeps by then
		rang = true;
		bell.ring();
	});
}

TEST(DataBell, KeepsARingThatNobodySleptFor)
{
	DataBell bell;
	bell.ring();
	EXPECT_EQ(bell.sleep(), 0u);
}

// Otherwise a receiver would ask its library twice for a message, once in vain, and count that as an attempt.
TEST(DataBell, ARingThatWokeASleeperIsOver)
{
	DataBell bell;
	std::atomic<bool> rang{false}, rang_again{false};
	std::thread first = ring_later(bell, rang);
	EXPECT_NE(bell.sleep(), 0u);
	EXPECT_TRUE(rang);
	first.join();
	std::thread second = ring_later(bell, rang_again);
	EXPECT_NE(bell.sleep(), 0u);
	EXPECT_TRUE(rang_again);
	second.join();
}

} // namespace
} // namespace icepath::plugin_kit
