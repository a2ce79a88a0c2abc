// SPDX-License-Identifier: Apache-2.0
// Whatever ends a process that isolates, and whenever: what comes after it puts the machine back as it was, byte by
// byte, and leaves what somebody else has changed.
#include "profiler/isolation/journalled_changes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "profiler/failure.h"
#include "profiler/isolation/full.h"
#include "profiler/isolation/keeper.h"
#include "profiler/isolation/partition.h"
#include "tests/isolation/fake_host.h"

namespace icepath::isolation {
namespace {

using cpuset::StepState;

StepState state_of(const std::vector<cpuset::Step> &steps, const std::string &name)
{
	const auto step = std::ranges::find(steps, name, &cpuset::Step::name);
	EXPECT_NE(step, steps.end()) << name;
	return step == steps.end() ? StepState::Left : step->state;
}

const std::string &found_of(const std::vector<cpuset::Step> &steps, const std::string &name)
{
	return std::ranges::find(steps, name, &cpuset::Step::name)->found;
}

TEST(Changes, KeepTheMachineOffTheRunsCpus)
{
	FakeHost host;
	Changes changes(host.tree, host.head());
	const auto steps = host.isolate(changes);
	for (const char *name : {"interrupts", "workqueues", "statistics", "watchdog", "resume_latency", "frequency"})
		EXPECT_EQ(state_of(steps, name), StepState::Done) << name << ": " << found_of(steps, name);
	EXPECT_EQ(state_of(steps, "partition"), StepState::NotPossible) << "there is no cgroup v2";
	EXPECT_EQ(host.read("proc/irq/24/smp_affinity_list"), "0-1\n");
	EXPECT_EQ(host.read("proc/irq/25/smp_affinity_list"), "0-1\n") << "it was on the run's CPUs alone";
	EXPECT_EQ(host.read("proc/irq/26/smp_affinity_list"), "0\n") << "as it was";
	EXPECT_EQ(host.read("proc/irq/default_smp_affinity"), "3\n");
	EXPECT_EQ(host.read("sys/devices/virtual/workqueue/cpumask"), "3\n");
	EXPECT_EQ(host.read("proc/sys/vm/stat_interval"), "120\n");
	EXPECT_EQ(host.read("proc/sys/kernel/watchdog_cpumask"), "0-1\n");
	EXPECT_EQ(host.read("sys/devices/system/cpu/cpu2/power/pm_qos_resume_latency_us"), "n/a\n");
	EXPECT_EQ(host.read("sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us"), "0\n") << "not the run's";
	EXPECT_EQ(host.read("sys/devices/system/cpu/cpufreq/policy2/scaling_governor"), "performance\n");
	EXPECT_EQ(host.read("sys/devices/system/cpu/cpufreq/policy1/scaling_governor"), "schedutil\n") << "not the run's";
}

TEST(Changes, ArePutBackAtTheEnd)
{
	FakeHost host;
	const auto before = host.files();
	{
		Changes changes(host.tree, host.head());
		host.isolate(changes);
		EXPECT_NE(host.files(), before);
		EXPECT_EQ(changes.put_back(), std::vector<std::string>());
		EXPECT_EQ(host.files(), before);
	}
	EXPECT_EQ(host.files(), before);
	EXPECT_EQ(host.journal(), "");
	{
		Changes changes(host.tree, host.head()); // without a word, as where an error ends it
		host.isolate(changes);
	}
	EXPECT_EQ(host.files(), before);
}

class Sweep : public testing::TestWithParam<FakeHost::Cgroups> {};
INSTANTIATE_TEST_SUITE_P(Cgroups, Sweep, testing::Values(FakeHost::Cgroups::V1, FakeHost::Cgroups::V2),
						 [](const auto &which) { return which.param == FakeHost::Cgroups::V1 ? "V1" : "V2"; });

TEST_P(Sweep, PutsBackAfterAnEndAtAnyMoment)
{
	size_t moments = 0;
	for (bool died = true; died; moments++) {
		FakeHost host(GetParam());
		const auto before = host.files();
		size_t passed = 0;
		died = host.isolate_and_die([&](const std::string &, bool) { return passed++ == moments; });
		EXPECT_EQ(put_back_leftovers(host.tree), std::vector<std::string>()) << moments;
		EXPECT_EQ(host.files(), before) << moments;
		EXPECT_EQ(host.journal(), "") << moments;
		EXPECT_EQ(put_back_leftovers(host.tree), std::vector<std::string>()) << "again";
		EXPECT_EQ(host.files(), before) << moments;
	}
	// Before and after each of some ten changes, and of putting them back; a partition is made by as many.
	EXPECT_GT(moments, GetParam() == FakeHost::Cgroups::V1 ? 40u : 60u);
}

// The journal torn at each of its bytes: by a limit of the process's, which the kernel keeps by writing as much as
// goes.
TEST_P(Sweep, PutsBackByAJournalThatIsTornAnywhere)
{
	FakeHost host(GetParam());
	for (const char *others : {"/sys/devices/system/cpu/cpufreq", "/proc/irq/25", "/proc/irq/26"})
		std::filesystem::remove_all(host.tree.root + others);
	const auto before = host.files();
	rlim_t bytes = 0;
	for (bool died = true; died; bytes++) {
		died = host.isolate_and_die([](const std::string &, bool) { return false; }, bytes);
		EXPECT_EQ(put_back_leftovers(host.tree), std::vector<std::string>()) << bytes;
		ASSERT_EQ(host.files(), before) << bytes;
	}
	EXPECT_GT(bytes, 800u);
}

class Partitions : public testing::Test {
protected:
	// What the step says, and that everything is as before.
	cpuset::Step refused()
	{
		const auto before = host.files();
		Changes changes(host.tree, host.head());
		const auto steps = host.isolate(changes);
		EXPECT_EQ(state_of(steps, "partition"), StepState::NotPossible);
		EXPECT_FALSE(std::filesystem::exists(host.tree.root + "/sys/fs/cgroup/icepath"));
		EXPECT_EQ(host.read("sys/fs/cgroup/cgroup.subtree_control"), "memory pids\n");
		EXPECT_EQ(changes.put_back(), std::vector<std::string>());
		EXPECT_EQ(host.files(), before);
		return *std::ranges::find(steps, "partition", &cpuset::Step::name);
	}
	FakeHost host{FakeHost::Cgroups::V2};
};

TEST_F(Partitions, AreMadeAndPutBack)
{
	const auto before = host.files();
	Changes changes(host.tree, host.head());
	const auto steps = host.isolate(changes);
	EXPECT_EQ(state_of(steps, "partition"), StepState::Done) << found_of(steps, "partition");
	EXPECT_EQ(host.read("sys/fs/cgroup/cgroup.subtree_control"), "cpuset memory pids\n");
	EXPECT_EQ(host.read("sys/fs/cgroup/cpuset.cpus.effective"), "0-1\n");
	EXPECT_EQ(host.read("sys/fs/cgroup/icepath/cpuset.cpus.partition"), "isolated\n");
	EXPECT_EQ(host.read("sys/fs/cgroup/icepath/cpuset.cpus.effective"), "2-3\n");
	EXPECT_TRUE(host.files().contains("sys/fs/cgroup/icepath/run/cgroup.procs"));
	EXPECT_EQ(changes.put_back(), std::vector<std::string>());
	EXPECT_EQ(host.files(), before);
}

TEST_F(Partitions, ThatTheKernelCallsInvalidAreTakenBack)
{
	host.cgroups->invalid = "Cpu list in cpuset.cpus not exclusive";
	EXPECT_EQ(refused().found, "/sys/fs/cgroup/icepath/cpuset.cpus.partition reads \"isolated invalid (Cpu list in "
							   "cpuset.cpus not exclusive)\"");
}

TEST_F(Partitions, WhoseCpusAreOthersAsWellAreTakenBack)
{
	host.cgroups->lies = true;
	EXPECT_EQ(refused().found, "/sys/fs/cgroup/cpuset.cpus.effective reads \"0-3\"");
}

// As where a worker waits for a file system of the user's.
TEST_F(Partitions, GiveTheirCpusBackThoughAWorkerDoesNotEnd)
{
	const auto before = host.files();
	const std::string group = "sys/fs/cgroup/icepath", leaf = group + "/run";
	bool is_stuck = false;
	host.tree.at_change = [&](const std::string &path, bool after) {
		return is_stuck && !after && path == leaf ? EBUSY : host.cgroups->at_change(path, after);
	};
	{
		Changes changes(host.tree, host.head());
		host.isolate(changes);
		host.write("/" + leaf + "/cgroup.procs", "4711");
		is_stuck = true;
		const auto told = changes.put_back();
		ASSERT_EQ(told.size(), 1u);
		EXPECT_EQ(told[0], "/sys/fs/cgroup/icepath is left, since a process in it doesn't end though it was killed "
						   "(4711): all tasks may use its CPUs again, and `sudo icepath doctor --restore` removes it "
						   "once that has ended");
		EXPECT_EQ(host.read(group + "/cpuset.cpus.partition"), "member\n");
		EXPECT_EQ(host.read("sys/fs/cgroup/cpuset.cpus.effective"), "0-3\n");
		EXPECT_NE(host.journal(), "");
		is_stuck = false;
	}
	EXPECT_EQ(put_back_leftovers(host.tree), std::vector<std::string>());
	EXPECT_EQ(host.files(), before);
	EXPECT_EQ(host.journal(), "");
}

TEST(Interrupts, MoveWhenTheyComeNext)
{
	FakeHost host;
	host.write("/proc/irq/24/effective_affinity_list", "3"); // and 25 is delivered to CPU 2
	{
		Changes changes(host.tree, host.head());
		EXPECT_EQ(found_of(host.isolate(changes), "interrupts"),
				  "interrupts of devices keep off CPUs 2-3; 2 of them may come there once more");
	}
	host.tree.at_change = [&](const std::string &path, bool after) {
		if (after && path == "proc/irq/24/smp_affinity_list")
			host.write("/proc/irq/24/effective_affinity_list", "0"); // at once
		return 0;
	};
	Changes changes(host.tree, host.head());
	EXPECT_EQ(found_of(host.isolate(changes), "interrupts"),
			  "interrupts of devices keep off CPUs 2-3; 1 of them may come there once more");
}

TEST(Changes, OfAnotherBootAreGone)
{
	FakeHost host;
	ASSERT_TRUE(host.isolate_and_die(
		[](const std::string &path, bool after) { return after && path == place_of("watchdog")->path(); }));
	host.write("/proc/sys/kernel/random/boot_id", "11112222");
	const auto before = host.files();
	EXPECT_EQ(put_back_leftovers(host.tree), std::vector<std::string>());
	EXPECT_EQ(host.files(), before) << "nothing was written";
	EXPECT_EQ(host.journal(), "");
}

TEST(Changes, OfSomebodyElseAreLeftAndTold)
{
	FakeHost host;
	auto wanted = host.files();
	Changes changes(host.tree, host.head());
	host.isolate(changes);
	EXPECT_EQ(changes.look(), std::vector<std::string>());
	host.write("/proc/irq/24/smp_affinity_list", "1");
	host.write("/proc/sys/vm/stat_interval", "1"); // as it was before
	const auto seen = changes.look();
	ASSERT_EQ(seen.size(), 2u);
	EXPECT_EQ(seen[0], "/proc/irq/24/smp_affinity_list was changed from 0-1 to 1 by somebody else");
	EXPECT_EQ(changes.look(), std::vector<std::string>()) << "each is told once";
	const auto left = changes.put_back();
	ASSERT_EQ(left.size(), 1u);
	EXPECT_EQ(left[0],
			  "/proc/irq/24/smp_affinity_list was changed to 1 by somebody else, and is left so: it was 0,1,2,3 before "
			  "icepath made it 0-1");
	wanted["proc/irq/24/smp_affinity_list"] = "1\n";
	EXPECT_EQ(host.files(), wanted);
}

// A set that the kernel writes otherwise than it was written is the same set.
TEST(Changes, AreComparedAsWhatTheyMean)
{
	FakeHost host;
	const auto before = host.files();
	Changes changes(host.tree, host.head());
	host.isolate(changes);
	host.write("/proc/irq/24/smp_affinity_list", "0,1");
	host.write("/proc/irq/default_smp_affinity", "00000000,00000003");
	EXPECT_EQ(changes.look(), std::vector<std::string>());
	EXPECT_EQ(changes.put_back(), std::vector<std::string>());
	EXPECT_EQ(host.files(), before);
}

TEST(Changes, ThatAreRefusedAreToldWithTheReasonAndLeaveNothing)
{
	FakeHost host;
	const auto before = host.files();
	host.tree.at_change = [](const std::string &path, bool after) {
		return after                                     ? 0
			   : path == "proc/irq/24/smp_affinity_list" ? EIO
			   : path == place_of("watchdog")->path()    ? EPERM
														 : 0;
	};
	Changes changes(host.tree, host.head());
	const auto steps = host.isolate(changes);
	EXPECT_EQ(state_of(steps, "interrupts"), StepState::Done);
	EXPECT_EQ(found_of(steps, "interrupts"),
			  "interrupts of devices keep off CPUs 2-3, but 1 of 4 can't be changed (Input/output error): none of "
			  "these comes there; 1 of them may "
			  "come there once more");
	EXPECT_EQ(state_of(steps, "watchdog"), StepState::NotPossible);
	EXPECT_EQ(found_of(steps, "watchdog"), "the watchdog for lockups: Operation not permitted");
	EXPECT_EQ(host.read("proc/irq/24/smp_affinity_list"), before.at("proc/irq/24/smp_affinity_list"));
	EXPECT_EQ(changes.put_back(), std::vector<std::string>());
	EXPECT_EQ(host.files(), before);
}

TEST(Changes, ThatTheKernelDoesOtherwiseAreTakenBack)
{
	FakeHost host;
	const auto before = host.files();
	host.tree.at_change = [&, once = true](const std::string &path, bool after) mutable {
		if (after && path == place_of("watchdog")->path() && std::exchange(once, false))
			host.write("/proc/sys/kernel/watchdog_cpumask", "1");
		return 0;
	};
	Changes changes(host.tree, host.head());
	const auto steps = host.isolate(changes);
	EXPECT_EQ(found_of(steps, "watchdog"), "the watchdog for lockups: it reads \"1\" after 0-1 was written");
	EXPECT_EQ(host.read("proc/sys/kernel/watchdog_cpumask"), before.at("proc/sys/kernel/watchdog_cpumask"));
}

// What can't be put back stays in the journal, and nothing is isolated until it can.
TEST(Changes, ThatCannotBePutBackAreKeptUntilTheyCan)
{
	FakeHost host;
	const auto before = host.files();
	ASSERT_TRUE(host.isolate_and_die(
		[](const std::string &path, bool after) { return after && path == place_of("watchdog")->path(); }));
	host.tree.at_change = [](const std::string &path, bool) {
		return path == place_of("stat_interval")->path() ? EIO : 0;
	};
	const auto told = put_back_leftovers(host.tree);
	ASSERT_EQ(told.size(), 1u);
	EXPECT_EQ(told[0], "/proc/sys/vm/stat_interval can't be put back to 1: Input/output error");
	EXPECT_THROW(Changes(host.tree, host.head()), Failure);
	host.tree.at_change = nullptr;
	EXPECT_EQ(put_back_leftovers(host.tree), std::vector<std::string>());
	EXPECT_EQ(host.files(), before);
}

TEST(Changes, OfADeviceThatIsGoneAreOver)
{
	FakeHost host;
	ASSERT_TRUE(host.isolate_and_die(
		[](const std::string &path, bool after) { return after && path == place_of("watchdog")->path(); }));
	std::filesystem::remove_all(host.tree.root + "/proc/irq/25");
	const auto told = put_back_leftovers(host.tree);
	ASSERT_EQ(told.size(), 1u);
	EXPECT_EQ(told[0], "/proc/irq/25/smp_affinity_list is gone");
	EXPECT_EQ(host.journal(), "");
}

TEST(Changes, FollowNoLink)
{
	FakeHost host;
	const std::string knob = host.tree.root + "/proc/sys/vm/stat_interval";
	host.write("/victim", "1");
	std::filesystem::remove(knob);
	std::filesystem::create_symlink("../../../victim", knob);
	Changes changes(host.tree, host.head());
	EXPECT_EQ(state_of(host.isolate(changes), "statistics"), StepState::NotPossible);
	EXPECT_EQ(host.read("victim"), "1\n");
}

TEST(Changes, AreToldWithoutBeingMade)
{
	FakeHost host;
	const auto before = host.files();
	Changes changes(host.tree);
	const auto steps = host.isolate(changes);
	EXPECT_EQ(state_of(steps, "interrupts"), StepState::Left);
	EXPECT_EQ(found_of(steps, "interrupts"), "3 would be changed so that interrupts of devices keep off CPUs 2-3");
	EXPECT_EQ(host.files(), before);
	EXPECT_FALSE(std::filesystem::exists(host.tree.root + "/" + kJournalPath));
}

TEST(Full, LeavesACpuForTheRestOfTheMachine)
{
	FakeHost host;
	EXPECT_EQ(cpus_to_isolate(host.machine(), {3, 3}), (cpuset::CpuList{3}));
	EXPECT_THROW(cpus_to_isolate(host.machine(), {0, 1, 2, 3}), Failure);
	EXPECT_THROW(cpus_to_isolate(host.machine(), {}), Failure);
	EXPECT_THROW(cpus_to_isolate(host.machine(), {4}), Failure) << "there is none";
	cpuset::FakeMachine laptop;
	cpuset::make_laptop(laptop);
	EXPECT_EQ(cpus_to_isolate(laptop.read(), {1, 2}), (cpuset::CpuList{1, 2, 5, 6}))
		<< "with the other threads of their cores";
	EXPECT_EQ(cpus_to_isolate(laptop.read(), {0, 1, 2, 3}), (cpuset::CpuList{0, 1, 2, 3}))
		<< "but where that leaves nothing";
}

// The kernel refuses it as long as another group has the controller for its children.
TEST(Cpusets, StayWhereTheKernelKeepsThem)
{
	FakeHost host;
	const std::string path = "/sys/fs/cgroup/cgroup.subtree_control";
	host.write(path, "");
	int changes = 0;
	host.tree.at_change = [&](const std::string &, bool after) {
		if (after)
			host.write(path, "cpuset"); // as the kernel shows it
		return !after && ++changes == 2 ? EBUSY : 0;
	};
	Changes made(host.tree, host.head());
	const auto with = [](const std::string &) { return kWithCpusets; };
	ASSERT_EQ(made.make(*place_of("cpuset_controller"), with).state, StepState::Done);
	EXPECT_EQ(made.put_back(),
			  std::vector<std::string>{path + " keeps the cpuset controller, because other groups use it now"});
	EXPECT_EQ(host.journal(), "");
}

// In the keeper, under its filter.
bool others_use_cpusets_there(const FakeHost &host)
{
	const pid_t child = fork();
	if (child == 0) {
		allow_keeping_calls_only();
		_exit(others_use_cpusets(host.tree) ? 1 : 0);
	}
	int status = -1;
	waitpid(child, &status, 0);
	EXPECT_TRUE(WIFEXITED(status)) << status;
	return WEXITSTATUS(status) != 0;
}

TEST(Cpusets, AreOthersIfAnotherGroupHasCpus)
{
	FakeHost host;
	host.write("/sys/fs/cgroup/cgroup.procs", "1");
	host.write("/sys/fs/cgroup/icepath/cpuset.cpus", "2-3");
	host.write("/sys/fs/cgroup/user.slice/cpuset.cpus", "");
	EXPECT_FALSE(others_use_cpusets(host.tree));
	EXPECT_FALSE(others_use_cpusets_there(host));
	host.write("/sys/fs/cgroup/user.slice/cpuset.cpus", "0-1");
	EXPECT_TRUE(others_use_cpusets(host.tree));
	EXPECT_TRUE(others_use_cpusets_there(host));
}

} // namespace
} // namespace icepath::isolation
