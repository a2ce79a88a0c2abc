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
	EXPECT_EQ(remedy(look(two.read()), "timer_tick"),
			  "boot with nohz_full=1, and measure there alone: --cpus 1,1 (both sides take turns there: another "
			  "experiment)");
	EXPECT_TRUE(remedy(look(two.read()), "other_tasks")
					.starts_with("boot with isolcpus=domain,managed_irq,1 irqaffinity=0, and measure there alone"))
		<< "interrupts that the kernel doesn't manage itself go by irqaffinity=";
	EXPECT_EQ(remedy(look(laptop.read()), "other_tasks"),
			  "boot with isolcpus=domain,managed_irq,1-2 irqaffinity=0,3-7");
	EXPECT_EQ(remedy(look(laptop.read()), "timer_tick"), "boot with nohz_full=1-2");
	EXPECT_EQ(remedy(look(one.read()), "timer_tick"),
			  "use a machine with another CPU, which stays with everything else");
}

constexpr const char *kInterrupts = "           CPU0       CPU1\n"
									" 24:          1         15  IO-APIC   5-edge      ttyS0\n"
									" 25:       5000          2  PCI-MSIX-0000:00:02.0   0-edge      virtio0-input\n"
									" 36:          0    8700000  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
									"LOC:    1000000    1000000  Local timer interrupts";

Machine up_for_a_day()
{
	FakeMachine fake;
	make_virtual_machine(fake);
	fake.irq(24, "ttyS0", "1");
	fake.irq(25, "virtio0-input", "0");
	fake.irq(36, "virtio1-req.0", "1");
	fake.write("/proc/interrupts", kInterrupts);
	fake.write("/proc/uptime", "86400.00 100000.00");
	return fake.read();
}

TEST(IsolationReport, NamesTheBusiestInterruptFirstAndNoneThatPracticallyNeverComes)
{
	Machine machine = up_for_a_day();
	EXPECT_EQ(found(look(machine), "interrupts"),
			  "2 device interrupts go to these CPUs, since boot: 36 virtio1-req.0 8 700 000 times, now on "
			  "CPU 1; 25 virtio0-input 5002 times, now on CPU 0");
	std::erase_if(machine.irqs, [](const Irq &irq) { return irq.number != 24; });
	EXPECT_EQ(found(look(machine), "interrupts"), "1 device interrupts go to these CPUs, and come practically never");
	EXPECT_FALSE(disturbing(look(machine)).contains("interrupts"));
}

TEST(LoneCpu, IsWhereTheFewestInterruptsComeThatCantBeMoved)
{
	Machine machine = up_for_a_day();
	EXPECT_EQ(lone_cpu(machine), 0u) << "all can be moved, or nobody tried";
	const auto irq = [&](uint32_t number) { return std::ranges::find(machine.irqs, number, &Irq::number); };
	irq(24)->fixed = "Input/output error";
	EXPECT_EQ(lone_cpu(machine), 0u) << "it practically never comes";
	irq(25)->fixed = "Operation not permitted";
	EXPECT_EQ(lone_cpu(machine), 1u) << "what comes more often can be moved";
	irq(25)->fixed.clear();
	irq(36)->fixed = "Operation not permitted";
	EXPECT_EQ(lone_cpu(machine), 0u);
	irq(25)->fixed = "Operation not permitted";
	EXPECT_EQ(lone_cpu(machine), 0u) << "5000 of 8 700 000";
	machine.cpus[0].allowed = false;
	EXPECT_EQ(lone_cpu(machine), 1u);
}

TEST(RealTimeLimit, IsTheFairServersSinceLinux612)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	EXPECT_EQ(remedy(look(fake.read()), "rt_throttling"),
			  "sysctl kernel.sched_rt_runtime_us=-1, where a hung real-time task may hang the machine");
	fake.write("/proc/sys/kernel/osrelease", "6.12.0");
	EXPECT_EQ(remedy(look(fake.read()), "rt_throttling"),
			  "as root, with debugfs mounted: echo 0 >/sys/kernel/debug/sched/fair_server/cpuN/runtime for these CPUs, "
			  "where a hung real-time task may hang the machine");
	EXPECT_EQ(found(look(fake.read()), "rt_throttling"),
			  "ordinary tasks may take 50 of every 1000 ms from real-time tasks (the kernel's fair server)");
	fake.write("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	EXPECT_TRUE(disturbing(look(fake.read())).contains("rt_throttling")) << "the fair server is another setting";
	fake.write("/proc/sys/kernel/sched_rt_runtime_us", "900000");
	fake.write("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "900000"); // CONFIG_RT_GROUP_SCHED
	EXPECT_TRUE(remedy(look(fake.read()), "rt_throttling").find(", and sysctl kernel.sched_rt_runtime_us=-1") !=
				std::string::npos);
	EXPECT_TRUE(found(look(fake.read()), "rt_throttling").starts_with("ordinary tasks may take 100 of every 1000 ms"));
	fake.write("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	for (const char *cpu : {"0", "1"}) {
		const std::string folder = "/sys/kernel/debug/sched/fair_server/cpu" + std::string(cpu);
		fake.write(folder + "/runtime", "0");
		fake.write(folder + "/period", "1000000000");
	}
	EXPECT_FALSE(disturbing(look(fake.read())).contains("rt_throttling"));
	fake.write("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "20000000");
	EXPECT_TRUE(remedy(look(fake.read()), "rt_throttling").starts_with("echo 0 >")) << "debugfs is there";
	EXPECT_TRUE(found(look(fake.read()), "rt_throttling").starts_with("ordinary tasks may take 20 of every 1000 ms"));
}

TEST(IsolationReport, HasNoRemedyForTheTickThatTheKernelLacks)
{
	FakeMachine fake;
	make_laptop(fake);
	std::filesystem::remove(fake.root() + "/sys/devices/system/cpu/nohz_full"); // as without CONFIG_NO_HZ_FULL
	EXPECT_EQ(remedy(look(fake.read()), "timer_tick"),
			  "a kernel with CONFIG_NO_HZ_FULL, which this one isn't, booted with nohz_full=");
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
			  "2 device interrupts go to these CPUs: 16 i801_smbus on CPU 1; 130 nvme0q2 on CPU 2");
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
