// SPDX-License-Identifier: Apache-2.0
#include "cpuset/choose.h"

#include <functional>

#include <gtest/gtest.h>

#include "profiler/failure.h"
#include "tests/cpuset/fake_machine.h"

namespace icepath::cpuset {
namespace {

void expect_failure(ExitCode code, const std::string &part, const std::function<void()> &action)
{
	try {
		action();
		ADD_FAILURE() << "nothing was refused";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), code);
		EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
	}
}

} // namespace

TEST(Choose, LaptopTakesTwoCoresAwayFromTheBootCore)
{
	FakeMachine fake;
	make_laptop(fake);
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 1u);
	EXPECT_EQ(choice.receiver, 2u); // 5 is a thread of the same core as 1; 4 is one of CPU 0's
	EXPECT_EQ(choice.housekeeping, (CpuList{0, 3, 4, 5, 6, 7}));
	EXPECT_EQ(choice.why, "CPUs 1 and 2: not isolated, two cores under one last-level cache");
}

TEST(Choose, BootCoreIsAvoidedWhereSiblingsHaveNeighbouringNumbers)
{
	FakeMachine fake;
	make_laptop(fake);
	for (uint32_t cpu = 0; cpu < 8; ++cpu)
		fake.cpu(cpu, 0, std::to_string(cpu & ~1u) + "-" + std::to_string(cpu | 1u), "0-7");
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 2u); // 1 is on CPU 0's core
	EXPECT_EQ(choice.receiver, 4u);
}

TEST(Choose, BootCpuIsAvoidedEvenWhereItsCoreCantBe)
{
	FakeMachine fake;
	make_laptop(fake);
	const Choice choice = choose_pair(fake.read({.affinity = {0, 1, 4}, .permitted = {0, 1, 4}}));
	EXPECT_EQ(choice.sender, 1u);
	EXPECT_EQ(choice.receiver, 4u);
}

TEST(Choose, ServerTakesIsolatedCpusOfOnePackage)
{
	FakeMachine fake;
	make_server(fake);
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 2u);
	EXPECT_EQ(choice.receiver, 3u);
	EXPECT_EQ(choice.housekeeping, (CpuList{0, 1, 4, 5})); // without the isolated CPUs
	EXPECT_EQ(choice.why, "CPUs 2 and 3: both isolated, two cores under one last-level cache");
}

TEST(Choose, IsolationWeighsMoreThanNearness)
{
	FakeMachine fake;
	make_server(fake);
	fake.write("/sys/devices/system/cpu/isolated", "2,7");
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 2u);
	EXPECT_EQ(choice.receiver, 7u);
	EXPECT_NE(choice.why.find("interconnect"), std::string::npos) << choice.why;
}

TEST(Choose, OneLastLevelCacheIsBetterThanTwoOfOnePackage)
{
	FakeMachine fake;
	make_server(fake);
	for (uint32_t cpu = 0; cpu < 8; ++cpu)
		fake.cpu(cpu, 0, std::to_string(cpu), cpu < 4 ? "0-3" : "4-7");
	fake.write("/sys/devices/system/cpu/isolated", "3-5");
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 4u);
	EXPECT_EQ(choice.receiver, 5u);
}

TEST(Choose, FastCoresAreTakenBeforeSlowOnes)
{
	FakeMachine fake;
	make_laptop(fake);
	for (uint32_t cpu = 0; cpu < 8; ++cpu)
		fake.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpu_capacity",
				   cpu == 2 || cpu == 3 ? "1024" : "512");
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 2u);
	EXPECT_EQ(choice.receiver, 3u);
}

TEST(Choose, TwoCpusAreTakenBothAndNobodyIsLeft)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, 0u);
	EXPECT_EQ(choice.receiver, 1u);
	EXPECT_EQ(choice.housekeeping, (CpuList{0, 1}));
}

TEST(Choose, OneCpuIsShared)
{
	FakeMachine fake;
	make_single(fake);
	const Choice choice = choose_pair(fake.read());
	EXPECT_EQ(choice.sender, choice.receiver);
	EXPECT_EQ(choice.housekeeping, CpuList{0});
	EXPECT_NE(choice.why.find("only CPU 0"), std::string::npos) << choice.why;
	EXPECT_NE(choice.why.find("take turns"), std::string::npos) << choice.why;
}

TEST(Choose, OnlyAllowedCpusAreTaken)
{
	FakeMachine fake;
	make_laptop(fake);
	const Choice choice = choose_pair(fake.read({.affinity = {0, 4}, .permitted = {0, 4}}));
	EXPECT_EQ(choice.sender, 0u);
	EXPECT_EQ(choice.receiver, 4u);
	EXPECT_NE(choice.why.find("two threads of one core"), std::string::npos) << choice.why;
}

TEST(Choose, NoAllowedCpuIsToldAsTheMachinesFault)
{
	FakeMachine fake;
	make_single(fake);
	expect_failure(ExitCode::MachineCannot, "may run on no online CPU (0;",
				   [&] { choose_pair(fake.read({.affinity = {1}, .permitted = {1}})); });
}

TEST(GivenPair, IsTakenInThatOrder)
{
	FakeMachine fake;
	make_laptop(fake);
	const Choice choice = given_cpus(fake.read(), "6,1");
	EXPECT_EQ(choice.sender, 6u);
	EXPECT_EQ(choice.receiver, 1u);
	EXPECT_EQ(choice.why.find("as asked for: CPUs 6 and 1"), 0u) << choice.why;
}

TEST(GivenPair, MoreThanTwoAreOfMoreReceivers)
{
	FakeMachine fake;
	make_laptop(fake);
	const Choice choice = given_cpus(fake.read(), "6,1,3");
	EXPECT_EQ(measuring_cpus(choice), (std::vector<uint32_t>{6, 1, 3}));
	for (const uint32_t cpu : measuring_cpus(choice))
		EXPECT_FALSE(contains(choice.housekeeping, cpu)) << cpu;
}

TEST(GivenPair, OneCpuTwiceIsAllowedAndSaid)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	const Choice choice = given_cpus(fake.read(), "1,1");
	EXPECT_EQ(choice.sender, 1u);
	EXPECT_EQ(choice.receiver, 1u);
	EXPECT_EQ(choice.housekeeping, CpuList{0});
	EXPECT_NE(choice.why.find("share CPU 1"), std::string::npos) << choice.why;
}

TEST(GivenPair, BadOnesAreNamed)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	const Machine machine = fake.read();
	expect_failure(ExitCode::Usage, "CPU 7 doesn't exist: this machine has 0-1", [&] { given_cpus(machine, "0,7"); });
	expect_failure(ExitCode::Usage, "two CPUs are needed", [&] { given_cpus(machine, "1"); });
	expect_failure(ExitCode::Usage, "two CPUs are needed", [&] { given_cpus(machine, ""); });
	for (const char *option : {"0,", ",1", "0,1,", "0,,1", "0,one", "0,-1", "0, 1", "0,4294967297"})
		expect_failure(ExitCode::Usage, "isn't a CPU number", [&] { given_cpus(machine, option); });
}

TEST(GivenPair, OfflineCpuIsTold)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	fake.write("/sys/devices/system/cpu/present", "0-2");
	expect_failure(ExitCode::Usage, "CPU 2 is offline", [&] { given_cpus(fake.read(), "0,2"); });
}

TEST(GivenPair, CpuOutsideOfTheAffinityIsTold)
{
	FakeMachine fake;
	make_laptop(fake);
	expect_failure(ExitCode::Usage, "this process may not run on CPU 5: its affinity or cgroup cpuset has 0-3", [&] {
		given_cpus(fake.read({.affinity = {0, 1, 2, 3}, .permitted = {0, 1, 2, 3, 4, 5, 6, 7}}), "0,5");
	});
}

TEST(DaemonCpus, AreOnesThatThisProcessMayUse)
{
	FakeMachine fake;
	make_virtual_machine(fake);
	const Machine machine = fake.read();
	EXPECT_EQ(given_daemon_cpus(machine, "0-1"), (CpuList{0, 1}));
	EXPECT_EQ(given_daemon_cpus(machine, "1"), CpuList{1});
	expect_failure(ExitCode::Usage, "--daemon-cpus 0-7: CPU 2 doesn't exist: this machine has 0-1",
				   [&] { (void)given_daemon_cpus(machine, "0-7"); });
	for (const char *list : {"", ",", "1,", "a", "-1", "1-0", "0-"})
		expect_failure(ExitCode::Usage, "isn't a list of CPUs: give one as 0-1,3",
					   [&] { (void)given_daemon_cpus(machine, list); });
}

} // namespace icepath::cpuset
