// SPDX-License-Identifier: Apache-2.0
// The time within which programs were skipped, by looks at the kernel's counts.
#include "profiler/capture/skip_times.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "profiler/capture/probes.h"

namespace icepath::capture {
namespace {

TEST(SkipTimes, LieBetweenTwoLooks)
{
	SkipTimes times;
	times.begin(1000, {7, 3});
	times.look(1100, 1110, {7, 3});
	EXPECT_TRUE(times.skipped().empty());
	times.look(1200, 1210, {9, 3});
	times.look(1300, 1310, {9, 3});
	times.look(1400, 1410, {10, 3});
	ASSERT_EQ(times.skipped().size(), 2u);
	EXPECT_EQ(times.skipped()[0].begin_ns, 1100u) << "the counts were still being read then";
	EXPECT_EQ(times.skipped()[0].end_ns, 1210u);
	EXPECT_EQ(times.skipped()[0].count, 2u);
	EXPECT_EQ(times.skipped()[1].begin_ns, 1300u);
	EXPECT_EQ(times.skipped()[1].count, 1u);
	times.begin(2000, {10, 3});
	EXPECT_TRUE(times.skipped().empty());
}

TEST(SkipTimes, WithoutLooksAreTheWholeBlock)
{
	SkipTimes times;
	times.begin(1000, {});
	times.look(9000, 9010, {1, 0});
	ASSERT_EQ(times.skipped().size(), 1u);
	EXPECT_EQ(times.skipped()[0].begin_ns, 1000u);
	EXPECT_EQ(times.skipped()[0].end_ns, 9010u);
}

TEST(SkipTimes, OfProgramsThatKeepSomethingDoNotEnd)
{
	SkipTimes times;
	times.begin(1000, {});
	times.look(1100, 1110, {0, 0});
	times.look(1200, 1210, {1, 2});
	times.look(1500, 1510, {2, 2});
	ASSERT_EQ(times.skipped().size(), 1u);
	EXPECT_EQ(times.skipped()[0].begin_ns, 1100u);
	EXPECT_EQ(times.skipped()[0].end_ns, UINT64_MAX);
	EXPECT_EQ(times.skipped()[0].count, 4u);
}

// Probes whose programs keep no state but a waking's time (ebpf/). A new probe isn't one of them until checked.
TEST(SkipTimes, EndOnlyForTheseProbes)
{
	std::set<std::string_view> names;
	for (const Probe &probe : kProbes)
		if (is_of_an_instant(probe))
			names.insert(probe.name);
	EXPECT_EQ(names, (std::set<std::string_view>{"sched_waking", "sched_wakeup", "sk_data_ready",
												 "skb_copy_datagram_iovec", "skb_queue_tail", "tcp_queue_rcv"}));
}

TEST(SkipTimes, WaitForTheNextLookWhereACountCouldNotBeRead)
{
	SkipTimes times;
	times.begin(1000, {7, 3});
	times.look(1100, 1110, {7, 0});
	times.look(1200, 1210, {2, 3});
	EXPECT_TRUE(times.skipped().empty());
	times.look(1300, 1310, {8, 3});
	ASSERT_EQ(times.skipped().size(), 1u);
	EXPECT_EQ(times.skipped()[0].begin_ns, 1000u);
	EXPECT_EQ(times.skipped()[0].count, 1u);
}

TEST(SkipTimes, ThatAreNeighboursAreOne)
{
	SkipTimes times;
	times.begin(0, {});
	for (uint64_t i = 1; i <= 100; i++)
		times.look(100 * i, 100 * i + 10, {2 * i, 0});
	ASSERT_EQ(times.skipped().size(), 1u);
	EXPECT_EQ(times.skipped()[0].end_ns, 10'010u);
	EXPECT_EQ(times.skipped()[0].count, 200u);
}

TEST(SkipTimes, OfManyTheLastHasTheRest)
{
	SkipTimes times;
	times.begin(0, {});
	for (uint64_t i = 1; i <= 100; i++)
		times.look(100 * i, 100 * i + 10, {i / 2, 0});
	ASSERT_EQ(times.skipped().size(), kMostSkipTimes);
	EXPECT_EQ(times.skipped().back().begin_ns, 100 * (2 * kMostSkipTimes - 1));
	EXPECT_EQ(times.skipped().back().end_ns, 10'010u);
	uint64_t sum = 0;
	for (const SkippedPrograms &some : times.skipped())
		sum += some.count;
	EXPECT_EQ(sum, 50u);
}

} // namespace
} // namespace icepath::capture
