// SPDX-License-Identifier: Apache-2.0
#include "cpuset/topology.h"

#include <sched.h>

#include <gtest/gtest.h>

#include "profiler/failure.h"
#include "tests/cpuset/fake_machine.h"

namespace icepath::cpuset {

TEST(Topology, LaptopHasCoresOfTwoThreads)
{
	FakeMachine fake;
	make_laptop(fake);
	const Machine machine = fake.read();
	ASSERT_EQ(machine.cpus.size(), 8u);
	EXPECT_EQ(machine.find(5)->siblings, (CpuList{1, 5}));
	EXPECT_EQ(machine.find(5)->llc.size(), 8u);
	EXPECT_EQ(machine.find(5)->governor, "powersave");
	EXPECT_EQ(machine.find(5)->idle_exit_us, 890u);
	EXPECT_EQ(machine.clocksource, "tsc");
	EXPECT_FALSE(machine.hypervisor);
}

TEST(Topology, ServerHasIsolatedCpus)
{
	FakeMachine fake;
	make_server(fake);
	const Machine machine = fake.read();
	EXPECT_TRUE(machine.find(2)->isolated && machine.find(2)->nohz_full);
	EXPECT_FALSE(machine.find(1)->isolated || machine.find(1)->nohz_full);
	EXPECT_EQ(machine.find(6)->package, 1u);
	EXPECT_EQ(machine.find(6)->llc, (CpuList{4, 5, 6, 7}));
	EXPECT_EQ(machine.rt_runtime_us, -1);
}

TEST(Topology, PartitionOfCgroupsIsolatesToo)
{
	FakeMachine fake;
	make_laptop(fake);
	fake.write("/sys/fs/cgroup/cpuset.cpus.isolated", "3");
	EXPECT_TRUE(fake.read().find(3)->isolated);
}

TEST(Topology, OlderKernelsTellPartitionsByTheirCgroups)
{
	FakeMachine fake;
	make_laptop(fake);
	const auto cgroup = [&](const std::string &path, const std::string &kind, const std::string &cpus) {
		fake.write("/sys/fs/cgroup/" + path + "/cpuset.cpus.partition", kind);
		fake.write("/sys/fs/cgroup/" + path + "/cpuset.cpus.effective", cpus);
	};
	cgroup("quiet", "isolated", "6-7");
	cgroup("broken", "isolated invalid (Parent is not a partition root)", "5");
	cgroup("shared", "root", "2-4");
	cgroup("shared/inner", "isolated", "3");
	cgroup("plain", "member", "0-1");
	cgroup("plain/lost", "isolated", "1");
	CpuList isolated;
	for (const Cpu &cpu : fake.read().cpus)
		if (cpu.isolated)
			isolated.push_back(cpu.number);
	EXPECT_EQ(isolated, (CpuList{3, 6, 7}));
}

TEST(Topology, IsolatedCpusAreAllowedThoughNobodysAffinityHasThem)
{
	FakeMachine fake;
	make_server(fake);
	const Machine machine = fake.read({.affinity = {0, 1, 4, 5}, .permitted = {0, 1, 2, 3, 4, 5, 6}});
	EXPECT_TRUE(machine.find(2)->allowed);
	EXPECT_FALSE(machine.find(7)->allowed); // its cgroup doesn't permit it
	EXPECT_TRUE(machine.find(1)->allowed);
}

TEST(Topology, AffinityLimitsOtherCpus)
{
	FakeMachine fake;
	make_laptop(fake);
	EXPECT_FALSE(fake.read({.affinity = {0, 1}, .permitted = {0, 1, 2, 3}}).find(2)->allowed);
}

TEST(Topology, InterruptsWithoutHandlerAreLeftOut)
{
	FakeMachine fake;
	make_laptop(fake);
	const Machine machine = fake.read();
	ASSERT_EQ(machine.irqs.size(), 2u);
	EXPECT_EQ(machine.irqs[0].name, "i801_smbus");
	EXPECT_EQ(machine.irqs[0].cpus, CpuList{1});
	EXPECT_EQ(machine.irqs[1].number, 130u);
}

TEST(Topology, AnInterruptThatWasNeverDeliveredCountsWhereItMayBe)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	fake.irq(30, "virtio1", "");
	EXPECT_EQ(fake.read().irqs.back().cpus, (CpuList{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Topology, HypervisorShowsInFlags)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	EXPECT_TRUE(fake.read().hypervisor);
}

TEST(Topology, AlmostEmptySysfsGivesDefaults)
{
	FakeMachine fake;
	fake.write("/sys/devices/system/cpu/online", "0-1");
	const Machine machine = fake.read();
	ASSERT_EQ(machine.cpus.size(), 2u);
	EXPECT_EQ(machine.cpus[1].siblings, CpuList{1});
	EXPECT_EQ(machine.cpus[1].llc, CpuList{1});
	EXPECT_FALSE(machine.cpus[1].isolated);
}

TEST(Topology, NonsenseInSysfsGivesDefaults)
{
	FakeMachine fake;
	make_single(fake);
	fake.write("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "9-1");
	fake.write("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "zebra");
	fake.write("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1");
	const Machine machine = fake.read();
	EXPECT_EQ(machine.cpus[0].siblings, CpuList{0});
	EXPECT_EQ(machine.cpus[0].llc, CpuList{0});
	EXPECT_EQ(machine.cpus[0].package, 0u);
}

TEST(Topology, MissingSysfsIsNamed)
{
	FakeMachine fake;
	try {
		fake.read();
		FAIL() << "an empty folder is no machine";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		EXPECT_NE(std::string(failure.what()).find("/sys/devices/system/cpu/online"), std::string::npos)
			<< failure.what();
	}
}

TEST(Topology, ThisMachineCanBeRead)
{
	const Permission permission = read_permission();
	const Machine machine = read_machine(permission);
	EXPECT_FALSE(permission.affinity.empty());
	for (const uint32_t cpu : permission.affinity)
		EXPECT_TRUE(contains(permission.permitted, cpu)) << cpu;
	const int here = sched_getcpu();
	ASSERT_GE(here, 0);
	const Cpu *cpu = machine.find(static_cast<uint32_t>(here));
	ASSERT_NE(cpu, nullptr);
	EXPECT_TRUE(cpu->allowed);
}

TEST(Topology, ReadingThePermissionLeavesTheAffinityAlone)
{
	const CpuList before = read_permission().affinity;
	EXPECT_EQ(read_permission().affinity, before);
}

} // namespace icepath::cpuset
