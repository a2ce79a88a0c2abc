// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/usage.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

namespace icepath::worker {
namespace {

using model::Count;
using model::Counters;

constexpr const char *kSched = R"(icepath-worker (17, #threads: 1)
-------------------------------------------------------------------
se.exec_start                                :        349201.031287
se.vruntime                                  :          1021.412100
se.sum_exec_runtime                          :            12.801220
se.nr_migrations                             :                   20
nr_switches                                  :                   75
)";

TEST(Migrations, AreALineOfSched)
{
	EXPECT_EQ(migrations_in(kSched).error, 0);
	EXPECT_EQ(migrations_in(kSched).counted, 20u);
}

TEST(Migrations, AreAbsentWhereTheLineIsNotWhole)
{
	const std::string text = kSched;
	const size_t end = text.find("20\n") + 2;
	for (size_t length = 0; length <= end; length++)
		EXPECT_EQ(migrations_in(text.substr(0, length)).error, ENODATA) << length;
	for (const char *value : {"-1\n", "x\n", "20x\n", "\n", "99999999999999999999999\n"})
		EXPECT_EQ(migrations_in(std::string("\nse.nr_migrations : ") + value).error, ENODATA) << value;
}

TEST(Migrations, OfABlockAreADifference)
{
	EXPECT_EQ(migrations_between({0, 20, 0, 0}, {0, 23, 0, 0}).counted, 3u);
	EXPECT_EQ(migrations_between({0, 20, 0, 0}, {0, 20, 0, 0}).error, 0);
	EXPECT_EQ(migrations_between({0, 20, 0, 0}, {0, 19, 0, 0}).error, ENODATA) << "it never goes back";
	EXPECT_EQ(migrations_between({ENOENT, 0, 0, 0}, {0, 19, 0, 0}).error, ENOENT);
	EXPECT_EQ(migrations_between({0, 20, 0, 0}, {EACCES, 0, 0, 0}).error, EACCES);
}

TEST(Group, GivesEachMemberItsCountAndTheTimesOfAll)
{
	const GroupReading reading{2, 1000, 250, {7, 8}};
	for (const size_t which : {0u, 1u}) {
		const Count count = count_of(reading, sizeof(reading), 2, which);
		EXPECT_EQ(count.error, 0);
		EXPECT_EQ(count.counted, 7 + which);
		EXPECT_EQ(count.enabled_ns, 1000u);
		EXPECT_EQ(count.running_ns, 250u);
	}
	EXPECT_EQ(count_of({1, 10, 10, {7, 0}}, sizeof(reading) - 8, 1, 0).counted, 7u);
}

TEST(Group, ThatReadAsSomethingElseIsAbsent)
{
	const GroupReading reading{2, 1000, 250, {7, 8}};
	EXPECT_EQ(count_of(reading, 0, 2, 0).error, ENODATA) << "the end of a group in error";
	EXPECT_EQ(count_of(reading, sizeof(reading) - 8, 2, 0).error, ENODATA);
	EXPECT_EQ(count_of({3, 1000, 250, {7, 8}}, sizeof(reading), 2, 0).error, ENODATA);
	EXPECT_EQ(count_of(reading, sizeof(reading), 2, 2).error, ENODATA);
}

void run_on(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	ASSERT_EQ(sched_getcpu(), cpu);
}

void touch_pages(int pages)
{
	const auto bytes = static_cast<size_t>(pages) * static_cast<size_t>(getpagesize());
	auto *memory =
		static_cast<volatile char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	for (size_t at = 0; at < bytes; at += static_cast<size_t>(getpagesize()))
		memory[at] = 1;
	munmap(const_cast<char *>(memory), bytes);
}

std::vector<int> allowed_cpus()
{
	cpu_set_t set;
	std::vector<int> cpus;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				cpus.push_back(cpu);
	return cpus;
}

// Uses a thread of its own, so that its affinity ends with it.
template <typename Body> void in_a_thread(const Body &body)
{
	std::thread([&] { body(); }).join();
}

TEST(BlockCounters, CountsHowOftenTheThreadWasMoved)
{
	const std::vector<int> cpus = allowed_cpus();
	if (cpus.size() < 2 || access("/proc/thread-self/sched", R_OK))
		GTEST_SKIP() << "needs two CPUs, and /proc/PID/sched";
	in_a_thread([&] {
		run_on(cpus[0]);
		BlockCounters counters;
		counters.prepare(false);
		counters.start();
		for (const int cpu : {cpus[1], cpus[0], cpus[1]})
			run_on(cpu);
		counters.stop();
		const Counters moved = counters.take();
		EXPECT_EQ(moved.migrations.error, 0);
		EXPECT_EQ(moved.migrations.counted, 3u);
		EXPECT_EQ(moved.cycles.error, model::kNotAsked);
		counters.prepare(false);
		counters.start();
		counters.stop();
		EXPECT_EQ(counters.take().migrations.counted, 0u) << "of this block alone";
	});
}

TEST(BlockCounters, CountsAnotherThreadThatIsNamed)
{
	const std::vector<int> cpus = allowed_cpus();
	if (cpus.size() < 2 || access("/proc/thread-self/sched", R_OK))
		GTEST_SKIP() << "needs two CPUs, and /proc/PID/sched";
	BlockCounters counters;
	counters.count_thread(0);
	counters.prepare(true);
	counters.start();
	counters.stop();
	const Counters unknown = counters.take();
	EXPECT_EQ(unknown.migrations.error, ESRCH);
	EXPECT_EQ(unknown.cycles.error, ESRCH);
	std::atomic<pid_t> tid{0};
	std::atomic<int> step{0};
	std::thread handler([&] {
		run_on(cpus[0]);
		tid = gettid();
		while (step == 0)
			std::this_thread::yield();
		run_on(cpus[1]);
		step = 2;
		while (step == 2)
			std::this_thread::yield();
	});
	while (tid == 0)
		std::this_thread::yield();
	counters.count_thread(tid);
	counters.prepare(false);
	counters.start();
	step = 1;
	while (step != 2)
		std::this_thread::yield();
	counters.stop();
	EXPECT_GE(counters.take().migrations.counted, 1u);
	step = 3;
	handler.join();
}

TEST(BlockCounters, HasHardwareThatCountsOrNone)
{
	in_a_thread([] {
		BlockCounters counters;
		for (int block = 0; block < 3; block++) {
			counters.prepare(true);
			counters.start();
			touch_pages(100);
			counters.stop();
			const Counters told = counters.take();
			for (const model::CounterField &field : model::kCounterFields) {
				const Count &count = told.*field.count;
				EXPECT_NE(count.error, model::kNotAsked) << field.key;
				if (count.error != 0) {
					EXPECT_EQ(count.counted, 0u) << field.key;
				}
				if (field.always_moves) {
					EXPECT_GT(model::scaled(count, field).value_or(1), 0) << field.key;
				}
			}
		}
	});
}

// Opening, grouping, starting and reading of events, with software events, whose counts are known.
class SoftwareEvents : public testing::Test {
protected:
	// The same numbers mean: cycles cpu-clock, instructions task-clock, cache_references page-faults.
	static Counters counted(BlockCounters &counters, int pages)
	{
		counters.prepare(true);
		touch_pages(300);
		counters.start();
		touch_pages(pages);
		counters.stop();
		touch_pages(300);
		return counters.take();
	}
	static size_t open_files()
	{
		size_t open = 0;
		for (int fd = 0; fd < 256; fd++)
			open += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
		return open;
	}
};

TEST_F(SoftwareEvents, CountBetweenStartAndStopOnly)
{
	in_a_thread([] {
		BlockCounters counters(PERF_TYPE_SOFTWARE);
		const size_t open_before = open_files();
		for (const int pages : {50, 120, 50}) {
			const Counters told = counted(counters, pages);
			if (told.cache_references.error == EACCES || told.cache_references.error == EPERM ||
				told.cache_references.error == ENOSYS)
				GTEST_SKIP() << "no perf_event_open(2) here";
			EXPECT_EQ(told.cache_references.error, 0);
			EXPECT_GE(told.cache_references.counted, static_cast<uint64_t>(pages));
			EXPECT_LT(told.cache_references.counted, static_cast<uint64_t>(pages) + 50);
			for (const Count &clock : {told.cycles, told.instructions}) {
				EXPECT_GT(clock.counted, 0u);
				EXPECT_GT(clock.enabled_ns, 0u);
				EXPECT_EQ(clock.enabled_ns, clock.running_ns);
			}
			EXPECT_EQ(told.cycles.enabled_ns, told.instructions.enabled_ns) << "one group";
			EXPECT_EQ(open_files(), open_before) << "closed with the block";
		}
		counters.prepare(false);
		EXPECT_EQ(open_files(), open_before) << "none in a block without them";
	});
}

} // namespace
} // namespace icepath::worker
