// SPDX-License-Identifier: Apache-2.0
// What the doctor says against others on a run's CPUs: what this machine can do comes first.
#include "profiler/doctor/isolation_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cpuset/fake_machine.h"

namespace icepath::doctor {
namespace {

const std::vector<Check> kNoFull = {{"full", Verdict::Warn, "this is a container", "none", ""}};
const std::vector<Check> kFull = {{"full partition", Verdict::Ok, "", "", ""},
								  {"full interrupts", Verdict::Ok, "", "", ""},
								  {"full frequency", Verdict::Warn, "Read-only file system", "it stays", ""}};

Check check_of(const std::string &item, const cpuset::Machine &machine, const std::vector<Check> &full)
{
	const auto items = cpuset::look_at_isolation(machine, cpuset::choose_pair(machine)).items;
	return isolation_check(*std::ranges::find(items, item, &cpuset::IsolationItem::name), machine, full);
}

TEST(IsolationChecks, NameWhatIsPossibleHereNow)
{
	cpuset::FakeMachine fake;
	make_laptop(fake);
	const cpuset::Machine laptop = fake.read();
	for (const char *item : {"other_tasks", "interrupts"}) {
		EXPECT_EQ(check_of(item, laptop, kFull).remedy, "sudo icepath run --isolate full");
		EXPECT_EQ(check_of(item, laptop, kFull).possible, Possible::Now);
		EXPECT_EQ(check_of(item, laptop, kNoFull).remedy.find("--isolate full"), std::string::npos);
	}
	EXPECT_EQ(check_of("other_tasks", laptop, kNoFull).possible, Possible::AfterReboot);
	EXPECT_EQ(check_of("interrupts", laptop, kNoFull).possible, Possible::Now);
	EXPECT_EQ(check_of("frequency", laptop, kFull).remedy, "cpupower frequency-set -g performance")
		<< "--isolate full can't";
	EXPECT_EQ(check_of("timer_tick", laptop, kFull).possible, Possible::AfterReboot);
	EXPECT_EQ(check_of("hypervisor", laptop, kFull).verdict, Verdict::Ok);
}

TEST(IsolationChecks, SayThatOnTwoCpusOneIsLeft)
{
	cpuset::FakeMachine fake;
	make_virtual_machine(fake);
	const std::string command = "sudo icepath run --isolate full --cpus ";
	cpuset::Machine machine = fake.read();
	EXPECT_EQ(check_of("other_tasks", machine, kFull).remedy,
			  command + "1,1 (both sides take turns there: another experiment)");
	machine.irqs[0].fixed = "Operation not permitted";
	machine.irqs[0].came = {{0, 0}, {1, 8'700'000}};
	EXPECT_TRUE(check_of("interrupts", machine, kFull).remedy.starts_with(command + "0,0"))
		<< "an interrupt that can't be moved comes to CPU 1";
}

TEST(FullChecks, WarnOfInterruptsThatStay)
{
	const cpuset::Step step{"interrupts", cpuset::StepState::Left, "found", ""};
	EXPECT_EQ(full_check(step, false).verdict, Verdict::Ok);
	const Check stays = full_check(step, true);
	EXPECT_EQ(stays.verdict, Verdict::Warn);
	EXPECT_FALSE(stays.effect.empty());
	cpuset::FakeMachine fake;
	make_virtual_machine(fake);
	EXPECT_TRUE(check_of("interrupts", fake.read(), {stays}).remedy.starts_with("sudo icepath run --isolate full"))
		<< "it moves the others";
}

TEST(IsolationChecks, LiftTheFairServerOnlyWhereItsFileIs)
{
	cpuset::FakeMachine fake;
	make_virtual_machine(fake);
	EXPECT_EQ(check_of("rt_throttling", fake.read(), kFull).possible, Possible::Now);
	fake.write("/proc/sys/kernel/osrelease", "6.12.3");
	EXPECT_EQ(check_of("rt_throttling", fake.read(), kFull).possible, Possible::NotHere);
	for (const char *cpu : {"0", "1"}) {
		const std::string folder = "/sys/kernel/debug/sched/fair_server/cpu" + std::string(cpu);
		fake.write(folder + "/runtime", "50000000");
		fake.write(folder + "/period", "1000000000");
	}
	EXPECT_EQ(check_of("rt_throttling", fake.read(), kFull).possible, Possible::Now);
}

TEST(IsolationChecks, SayWhatNoSettingOfThisMachineBrings)
{
	cpuset::FakeMachine one, fake;
	make_single(one);
	make_laptop(fake);
	std::filesystem::remove(fake.root() + "/sys/devices/system/cpu/nohz_full"); // as without CONFIG_NO_HZ_FULL
	EXPECT_EQ(check_of("timer_tick", fake.read(), kFull).possible, Possible::NotHere);
	EXPECT_EQ(check_of("other_tasks", one.read(), kNoFull).possible, Possible::NotHere);
	EXPECT_EQ(check_of("housekeeping", one.read(), kNoFull).possible, Possible::NotHere);
}

TEST(OtherRuns, AreNamedWithTheirCpus)
{
	EXPECT_EQ(other_runs_check({}).verdict, Verdict::Ok);
	const Check check = other_runs_check({{1, 3, 4711}, {2, 2, 4711}, {3, 0, 815}});
	EXPECT_EQ(check.verdict, Verdict::Warn);
	EXPECT_EQ(check.found, "another icepath (process 815) measures on CPU 0, "
						   "another icepath (process 4711) measures on CPUs 2-3");
	EXPECT_FALSE(check.remedy.empty());
}

TEST(SoftChecks, TellABootFromACommand)
{
	const auto possible = [](const std::string &remedy) {
		return soft_check({"idle_states", cpuset::StepState::NotPossible, "found", remedy}).possible;
	};
	EXPECT_EQ(possible("boot with idle=poll, or, in a KVM guest, load cpuidle-haltpoll"), Possible::AfterReboot);
	EXPECT_EQ(possible("use a kernel with CONFIG_CPU_IDLE"), Possible::NotHere);
	EXPECT_EQ(possible("start icepath with sudo"), Possible::Now);
}

} // namespace
} // namespace icepath::doctor
