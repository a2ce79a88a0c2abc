// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/cache_line.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "icepath/plugin.h"
#include "profiler/machine/watch.h"

namespace icepath::machine {
namespace {

std::vector<uint32_t> own_cpus()
{
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	std::vector<uint32_t> cpus;
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus.push_back(cpu);
	return cpus;
}

TEST(CacheLine, GoesThereAndBackInLessThanAMicrosecondOrSo)
{
	const std::vector<uint32_t> cpus = own_cpus();
	if (cpus.size() < 2)
		GTEST_SKIP() << "needs two CPUs";
	std::optional<uint64_t> took_ns;
	for (int tries = 0; tries < 20 && !took_ns; tries++) // another task may hold a CPU for longer than kLongestLineNs
		took_ns = round_trip_ns(cpus[0], cpus[1]);
	ASSERT_TRUE(took_ns);
	EXPECT_GT(*took_ns, 5u) << "no line is that fast";
	EXPECT_LT(*took_ns, kLongestLineNs);
}

TEST(CacheLine, WhereItMayNotRunItTellsNothingAndTakesNoLongerThanItMay)
{
	constexpr uint32_t kNone = 100'000;
	EXPECT_FALSE(round_trip_ns(own_cpus()[0], kNone));
	EXPECT_FALSE(round_trip_ns(kNone, own_cpus()[0]));
	EXPECT_FALSE(round_trip_ns(own_cpus()[0], own_cpus()[0])) << "threads of one CPU take turns";
}

TEST(CacheLines, AreLookedAtNowAndThen)
{
	const uint32_t cpu = own_cpus()[0];
	EXPECT_TRUE(CacheLines({cpu}, 60).all().empty());
	CacheLines lines({cpu, cpu + 1, cpu + 2}, 1e6);
	ASSERT_EQ(lines.all().size(), 2u);
	EXPECT_EQ(lines.all()[1].from_cpu, cpu);
	EXPECT_EQ(lines.all()[1].to_cpu, cpu + 2);
	lines.look();
	const auto before = lines.all();
	lines.look_if_due();
	EXPECT_EQ(lines.all(), before) << "a run of a million seconds has no room for that";
}

TEST(BlockCost, IsWhatThisProcessAndItsHelperUsed)
{
	const std::vector<uint32_t> cpus = own_cpus();
	model::Window window;
	const BlockCost cost(cpus, getpid()); // with itself as helper, so it counts itself twice
	const uint64_t begin_ns = icepath_now_ns();
	while (icepath_now_ns() < begin_ns + 20'000'000) {
	}
	cost.add_to(window);
	ASSERT_TRUE(window.own_cpu_ns && window.steal_ns);
	EXPECT_GT(*window.own_cpu_ns, 1'000'000u);
	model::Window other;
	BlockCost(cpus, -1).add_to(other);
	EXPECT_FALSE(other.own_cpu_ns) << "a helper that isn't there";
}

} // namespace
} // namespace icepath::machine
