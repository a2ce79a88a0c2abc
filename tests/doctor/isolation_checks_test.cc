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
	EXPECT_EQ(check_of("other_tasks", fake.read(), kFull).remedy, "sudo icepath run --isolate full --cpus 1,1");
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
