// SPDX-License-Identifier: Apache-2.0
#include "cpuset/isolation.h"

#include <algorithm>
#include <set>

#include <filesystem>
#include <gtest/gtest.h>

#include "tests/cpuset/fake_machine.h"

namespace icepath::cpuset {
namespace {

std::set<std::string> disturbing(const Isolation &isolation)
{
	std::set<std::string> names;
	for (const IsolationItem &item : isolation.items)
		if (!item.quiet)
			names.insert(item.name);
	return names;
}

Isolation look(const Machine &machine) { return look_at_isolation(machine, choose_pair(machine)); }

std::string found(const Isolation &isolation, const std::string &name)
{
	for (const IsolationItem &item : isolation.items)
		if (item.name == name)
			return item.found;
	return "";
}

std::string remedy(const Isolation &isolation, const std::string &name)
{
	return std::ranges::find(isolation.items, name, &IsolationItem::name)->remedy;
}

} // namespace

TEST(IsolationReport, LeavesACpuToTheMachine)
{
	FakeMachine two, laptop, one;
	make_virtual_machine(two);
	make_laptop(laptop);
	make_single(one);
	EXPECT_EQ(remedy(look(two.read()), "timer_tick"), "boot with nohz_full=1, and measure there alone (--cpus 1,1)");
	EXPECT_TRUE(remedy(look(two.read()), "other_tasks").starts_with("boot with isolcpus=domain,managed_irq,1, and"));
	EXPECT_EQ(remedy(look(laptop.read()), "timer_tick"), "boot with nohz_full=1-2");
	EXPECT_EQ(remedy(look(one.read()), "timer_tick"),
			  "use a machine with another CPU, which stays with everything else");
}

TEST(IsolationReport, HasNoRemedyForTheTickThatTheKernelLacks)
{
	FakeMachine fake;
	make_laptop(fake);
	std::filesystem::remove(fake.root() + "/sys/devices/system/cpu/nohz_full"); // as without CONFIG_NO_HZ_FULL
	EXPECT_EQ(remedy(look(fake.read()), "timer_tick"), "a kernel with CONFIG_NO_HZ_FULL, which this one isn't");
}

TEST(IsolationReport, LaptopIsNoisy)
{
	FakeMachine fake;
	make_laptop(fake);
	const Isolation isolation = look(fake.read());
	EXPECT_EQ(disturbing(isolation), (std::set<std::string>{"other_tasks", "timer_tick", "interrupts", "smt_sibling",
															"frequency", "idle_states", "rt_throttling"}));
	EXPECT_EQ(found(isolation, "smt_sibling"), "on the cores of the chosen ones: CPUs 5-6");
	EXPECT_EQ(found(isolation, "interrupts"),
			  "2 device interrupts go to these CPUs: 16 i801_smbus on CPU 1, 130 nvme0q2 on CPU 2");
	EXPECT_EQ(found(isolation, "frequency"), "governor powersave on CPUs 1-2");
}

TEST(IsolationReport, IsolatedServerIsQuiet)
{
	FakeMachine fake;
	make_server(fake);
	EXPECT_EQ(disturbing(look(fake.read())), std::set<std::string>{});
}

TEST(IsolationReport, VirtualMachineSaysSo)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	EXPECT_EQ(disturbing(look(fake.read())), (std::set<std::string>{"other_tasks", "timer_tick", "interrupts",
																	"rt_throttling", "hypervisor", "housekeeping"}));
}

TEST(IsolationReport, OfflineSiblingIsQuiet)
{
	FakeMachine fake;
	make_laptop(fake);
	fake.write("/sys/devices/system/cpu/online", "0-3");
	EXPECT_FALSE(disturbing(look(fake.read())).contains("smt_sibling"));
}

TEST(IsolationReport, OnlyTheCpuThatLacksIsolationIsNamed)
{
	FakeMachine fake;
	make_server(fake);
	const Machine machine = fake.read();
	EXPECT_EQ(found(look_at_isolation(machine, given_cpus(machine, "2,1")), "other_tasks"),
			  "open to every task of this machine: CPU 1");
}

TEST(IsolationReport, SlowClockIsTold)
{
	FakeMachine fake;
	make_server(fake);
	fake.write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
	EXPECT_TRUE(disturbing(look(fake.read())).contains("clock"));
}

TEST(IsolationReport, WhateverDisturbsHasAnEffect)
{
	FakeMachine fake;
	make_laptop(fake);
	for (const IsolationItem &item : look(fake.read()).items) {
		EXPECT_FALSE(item.found.empty()) << item.name;
		EXPECT_EQ(item.quiet, item.effect.empty()) << item.name;
	}
}

TEST(IsolationReport, ThisMachineCanBeLookedAt)
{
	const Machine machine = read_machine(read_permission());
	EXPECT_EQ(look(machine).items.size(), 10u);
}

TEST(IsolationReport, IsQuietAboutWhatWasDone)
{
	FakeMachine fake;
	make_laptop(fake);
	const Machine machine = fake.read();
	for (const StepState state : {StepState::Done, StepState::AlreadySo, StepState::NotPossible, StepState::Left}) {
		const Isolation isolation =
			look_at_isolation(machine, choose_pair(machine), Level::Soft, {{"idle_states", state, "", ""}});
		EXPECT_EQ(disturbing(isolation).contains("idle_states"),
				  state == StepState::NotPossible || state == StepState::Left);
	}
}

} // namespace icepath::cpuset
