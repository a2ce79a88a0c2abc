// SPDX-License-Identifier: Apache-2.0
// What kept a thread from running is found for all of its time, and only while it could have run.
#include "profiler/path/interference.h"

#include <gtest/gtest.h>

#include "ebpf/contexts.h"
#include "profiler/path/shares.h"
#include "profiler/path/timeline.h"

namespace icepath::path {
namespace {

constexpr uint32_t kThread = 1, kHog = 9;

// On CPU 0: a thread, a task that preempts it at 100 for 100, and a timer interrupt at 50 for 10.
Observations preempted_once()
{
	Observations seen;
	Thread &thread = seen.threads[kThread];
	thread.tid = kThread;
	OffCpu off;
	off.out_ns = 100;
	off.in_ns = 200;
	off.preempted = true;
	thread.off = {off};
	seen.cpus[0].runs = {{100, 200, kHog, 0, false}};
	seen.cpus[0].interrupts = {{50, 60, ICEPATH_INTERRUPT_TIMER, 0, 1, {}, kThread, false}};
	seen.task_names[kHog] = "hog";
	seen.end_ns = 1000;
	return seen;
}

using Found = std::vector<std::pair<std::string, uint64_t>>;

Found found_in(const Observations &seen, uint64_t begin_ns = 0, uint64_t end_ns = 1000)
{
	Found found;
	for (const Interference &one : interferences(seen, seen.threads.at(kThread), begin_ns, end_ns))
		found.emplace_back(culprit_name(one.who, seen.task_names), one.ns);
	return found;
}

TEST(Interference, IsAnInterruptOrATaskThatHadTheCpu)
{
	EXPECT_EQ(found_in(preempted_once()), (Found{{"timer interrupt", 10}, {"hog", 100}}));
}

TEST(Interference, IsClippedToTheTimeAskedFor)
{
	EXPECT_EQ(found_in(preempted_once(), 55, 150), (Found{{"timer interrupt", 5}, {"hog", 50}}));
	EXPECT_EQ(found_in(preempted_once(), 200, 1000), Found{});
}

TEST(Interference, BeginsWithTheWakeupOfASleepingThread)
{
	Observations seen = preempted_once();
	OffCpu &off = seen.threads[kThread].off[0];
	off.preempted = false;
	off.waking_ns = 170;
	off.wakeup_ns = 180;
	EXPECT_EQ(found_in(seen), (Found{{"timer interrupt", 10}, {"hog", 20}})) << "before that it wanted no CPU";
}

TEST(Interference, IsNotTheIdleCpuThatAThreadWakesOn)
{
	Observations seen = preempted_once();
	OffCpu &off = seen.threads[kThread].off[0];
	off.preempted = false;
	off.waking_ns = 170;
	off.wakeup_ns = 180;
	off.from_idle = true;
	seen.cpus[0].runs.clear();
	EXPECT_EQ(found_in(seen), (Found{{"timer interrupt", 10}}));
}

// A library's thread, which no affinity holds, is where the records show it, not where it was when the block began.
TEST(CpuAt, IsWhereTheThreadRunsOrWillRun)
{
	Thread thread;
	thread.first_cpu = 0;
	thread.first_cpu_told_ns = UINT64_MAX;
	EXPECT_EQ(cpu_at(thread, 50), std::nullopt) << "no record tells";
	OffCpu off;
	off.out_ns = 100;
	off.in_ns = 200;
	off.out_cpu = 2;
	off.in_cpu = 3;
	thread.off = {off};
	EXPECT_EQ(cpu_at(thread, 99), 2);
	EXPECT_EQ(cpu_at(thread, 100), 3);
	EXPECT_EQ(cpu_at(thread, 300), 3);
	thread.off.clear();
	thread.first_cpu_told_ns = 0;
	EXPECT_EQ(cpu_at(thread, 50), 0) << "its affinity";
}

} // namespace
} // namespace icepath::path
