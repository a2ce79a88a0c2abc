// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/trials.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace icepath::doctor {
namespace {

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(CountersCheck, IsSilentWhereAllCount)
{
	const Check check = counters_check({0, 0, 0});
	EXPECT_EQ(check.verdict, Verdict::Ok);
	EXPECT_TRUE(check.effect.empty());
	EXPECT_TRUE(check.remedy.empty());
}

TEST(CountersCheck, TellsWhatIsLackingAndWhatMendsIt)
{
	const Check user_only = counters_check({EACCES, 0, 0});
	EXPECT_EQ(user_only.verdict, Verdict::Warn);
	EXPECT_TRUE(has(user_only.found, "user mode only"));
	EXPECT_TRUE(has(user_only.remedy, "kernel.perf_event_paranoid=1"));
	const Check denied = counters_check({EACCES, EACCES, 0});
	EXPECT_TRUE(has(denied.effect, "absent"));
	EXPECT_TRUE(has(denied.remedy, "kernel.perf_event_paranoid=1"));
	const Check without_pmu = counters_check({EACCES, ENOENT, 0}); // an ordinary user on a machine without one
	EXPECT_TRUE(has(without_pmu.found, "hypervisor"));
	EXPECT_FALSE(has(without_pmu.remedy, "paranoid"));
	EXPECT_TRUE(counters_check({ENOSYS, ENOSYS, 0}).remedy.empty());
}

TEST(CountersCheck, NamesMissingMigrationsBesideTheHardware)
{
	const Check alone = counters_check({0, 0, ENOENT});
	EXPECT_EQ(alone.verdict, Verdict::Warn);
	EXPECT_TRUE(has(alone.found, "cycles")) << alone.found;
	EXPECT_TRUE(has(alone.found, "no migrations")) << alone.found;
	EXPECT_EQ(alone.effect, "migrations are absent from run.json");
	EXPECT_TRUE(has(counters_check({ENOENT, ENOENT, ENOENT}).effect, "; migrations"));
}

TEST(UntracedInterrupts, WarnOnlyIfTheyComeMoreThanPracticallyNever)
{
	cpuset::Machine machine;
	machine.up_s = 86'400;
	const std::vector<model::InterruptCount> rows = {{"HYP", "Hypervisor callback interrupts", 115}};
	EXPECT_EQ(interrupts_check(rows, machine).verdict, Verdict::Ok);
	machine.up_s = 600;
	EXPECT_EQ(interrupts_check(rows, machine).verdict, Verdict::Warn);
	EXPECT_TRUE(has(interrupts_check(rows, machine).found, "Hypervisor callback interrupts (HYP) 115 times"));
}

// The results on this machine are unknown, but none of them may prevent a run.
TEST(CountersCheck, IsNeverAFailure) { EXPECT_NE(counters_check(try_counters()).verdict, Verdict::Fail); }

} // namespace
} // namespace icepath::doctor
