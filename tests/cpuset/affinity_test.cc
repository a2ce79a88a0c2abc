// SPDX-License-Identifier: Apache-2.0
#include "cpuset/affinity.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "cpuset/topology.h"

namespace icepath::cpuset {
namespace {

// Affinity outlives a test, so each one works on a thread of its own.
template <typename Action> void on_own_thread(Action action) { std::thread(action).join(); }

uint32_t an_allowed_cpu() { return read_permission().affinity.back(); }

} // namespace

TEST(Affinity, PinsTheCallingThread)
{
	on_own_thread([] {
		const uint32_t cpu = an_allowed_cpu();
		EXPECT_EQ(pin(0, cpu), std::nullopt);
		EXPECT_EQ(read_permission().affinity, CpuList{cpu});
		EXPECT_EQ(sched_getcpu(), static_cast<int>(cpu));
	});
}

TEST(Affinity, PinsAnotherThread)
{
	std::atomic<pid_t> tid = 0;
	std::atomic<bool> finish = false;
	std::thread other([&] {
		tid = gettid();
		tid.notify_one();
		finish.wait(false);
	});
	tid.wait(0);
	const uint32_t cpu = an_allowed_cpu();
	EXPECT_EQ(pin(tid, cpu), std::nullopt);
	cpu_set_t mask;
	EXPECT_EQ(sched_getaffinity(tid, sizeof mask, &mask), 0);
	EXPECT_EQ(CPU_COUNT(&mask), 1);
	EXPECT_TRUE(CPU_ISSET(cpu, &mask));
	finish = true;
	finish.notify_one();
	other.join();
}

TEST(Affinity, ACpuThatIsNotThereIsTold)
{
	on_own_thread([] {
		EXPECT_EQ(pin(0, 9999),
				  "this thread can't be moved to CPU 9999: none of these CPUs is online and permitted by its cpuset");
		EXPECT_EQ(pin(0, 1u << 20), "this thread can't be moved to CPU 1048576: no machine has it");
	});
}

TEST(Affinity, ATaskThatHasEndedIsTold)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, nullptr, 0);
	EXPECT_EQ(pin(child, an_allowed_cpu()), "task " + std::to_string(child) + " can't be moved to CPU " +
												std::to_string(an_allowed_cpu()) + ": it has ended");
}

TEST(Affinity, ConfinesEveryThreadOfTheProcess)
{
	// In a child, because it affects the whole process.
	const pid_t child = fork();
	if (child == 0) {
		const uint32_t cpu = an_allowed_cpu();
		std::atomic<pid_t> tid = 0;
		std::thread other([&] {
			tid = gettid();
			tid.notify_one();
			pause();
		});
		tid.wait(0);
		const bool done = !confine_process({cpu});
		cpu_set_t mask;
		const bool moved =
			sched_getaffinity(tid, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) == 1 && CPU_ISSET(cpu, &mask);
		_exit(done && moved && read_permission().affinity == CpuList{cpu} ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
}

TEST(Affinity, ConfiningToNothingIsRefused)
{
	on_own_thread([] { EXPECT_NE(confine_process({}), std::nullopt); });
}

} // namespace icepath::cpuset
