// SPDX-License-Identifier: Apache-2.0
// Changes of the machine during a run, with a fake /sys, a fake sleep and real threads.
#include "profiler/machine/changes.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cpuset/affinity.h"
#include "tests/cpuset/fake_machine.h"

namespace icepath::machine {
namespace {

using Sentences = std::vector<std::string>;
constexpr const char *kClockSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

class MachineChanges : public testing::Test {
protected:
	void SetUp() override
	{
		make_virtual_machine(machine);
		machine.write(kClockSource, "tsc");
	}
	cpuset::FakeMachine machine;
	uint64_t slept = 5'000'000'000;
	Changes changes() const
	{
		return Changes(machine.root(), [this] { return slept; });
	}
};

TEST_F(MachineChanges, NoneIsNoneHoweverOftenOneLooks)
{
	Changes seen = changes();
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(seen.look(), Sentences{});
}

TEST_F(MachineChanges, OfTheClockSourceIsToldOnce)
{
	Changes seen = changes();
	machine.write(kClockSource, "hpet");
	ASSERT_EQ(seen.look().size(), 1u);
	EXPECT_EQ(seen.look(), Sentences{});
	machine.write(kClockSource, "tsc");
	ASSERT_EQ(seen.look().size(), 1u) << "and back is one, too";
	machine.write(kClockSource, "hpet");
	EXPECT_EQ(seen.look()[0].find("the clock source changed from tsc to hpet"), 0u);
}

TEST_F(MachineChanges, ASleepIsToldWithItsLengthAndAWaitForOnesTurnIsNone)
{
	Changes seen = changes();
	slept += kLeastSleepNs;
	EXPECT_EQ(seen.look(), Sentences{});
	slept += 12'340'000'000;
	EXPECT_EQ(seen.look(), Sentences{"the machine slept for 12.3 s"});
	EXPECT_EQ(seen.look(), Sentences{});
}

TEST_F(MachineChanges, BothAreTold)
{
	Changes seen = changes();
	machine.write(kClockSource, "hpet");
	slept += 1'000'000'000;
	EXPECT_EQ(seen.look().size(), 2u);
}

// On this machine: two readings differ by less than what counts as sleep.
TEST(Slept, IsTheSameWhileTheMachineIsAwake)
{
	const uint64_t before = slept_ns();
	usleep(200'000);
	EXPECT_LT(slept_ns() - before + kLeastSleepNs / 2, kLeastSleepNs);
}

class Pinned : public MachineChanges {
protected:
	void SetUp() override
	{
		MachineChanges::SetUp();
		std::atomic<pid_t> number{0};
		thread = std::thread([this, &number] {
			number = static_cast<pid_t>(syscall(SYS_gettid));
			number.notify_one();
			over.wait(false);
		});
		number.wait(0);
		tid = number;
		cpu_set_t allowed;
		ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
		while (!CPU_ISSET(cpu, &allowed))
			cpu++;
		ASSERT_EQ(cpuset::pin(tid, cpu), std::nullopt);
	}
	void TearDown() override { end(); }
	void end()
	{
		over = true;
		over.notify_one();
		if (thread.joinable())
			thread.join();
	}
	std::optional<std::string> lost_pin() const
	{
		return changes().lost_pin({{static_cast<uint32_t>(tid), cpu, "pipe initiator"}});
	}
	std::thread thread;
	std::atomic<bool> over{false};
	pid_t tid = 0;
	uint32_t cpu = 0;
};

TEST_F(Pinned, IsWhoMayRunThereAndNowhereElse) { EXPECT_EQ(lost_pin(), std::nullopt); }

TEST_F(Pinned, IsNotWhoMayRunElsewhereToo)
{
	cpu_set_t all;
	CPU_ZERO(&all);
	for (int one = 0; one < CPU_SETSIZE; one++)
		CPU_SET(one, &all);
	ASSERT_EQ(sched_setaffinity(tid, sizeof(all), &all), 0);
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		return; // with one CPU, the thread can't run elsewhere
	EXPECT_EQ(lost_pin().value_or("kept"), "pipe initiator is no longer pinned to CPU " + std::to_string(cpu) +
											   ": somebody has widened its affinity");
}

TEST_F(Pinned, IsNotWhoWasMoved)
{
	const std::optional<std::string> told = changes().lost_pin({{static_cast<uint32_t>(tid), cpu ^ 1, "x"}});
	EXPECT_NE(told.value_or("kept").find("its cpuset lacks the CPU, or somebody moved it"), std::string::npos);
	machine.write("/sys/devices/system/cpu/online", std::to_string(cpu));
	EXPECT_NE(
		changes().lost_pin({{static_cast<uint32_t>(tid), cpu ^ 1, "x"}}).value_or("kept").find("the CPU is offline"),
		std::string::npos);
}

TEST_F(Pinned, AThreadThatHasEndedIsNoMatterOfPins)
{
	end();
	EXPECT_EQ(lost_pin(), std::nullopt);
}

} // namespace
} // namespace icepath::machine
