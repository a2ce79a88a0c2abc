// SPDX-License-Identifier: Apache-2.0
// What `--tune` raises, on a machine of files.
#include "profiler/isolation/tune.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/isolation/fake_host.h"

namespace icepath::isolation {
namespace {

using cpuset::StepState;

Tuning wish(const std::string &name, uint64_t value)
{
	for (uint32_t i = 0; i < std::size(kLimits); i++)
		if (kLimits[i].name == name)
			return {i, 0, value};
	ADD_FAILURE() << name;
	return {};
}

cpuset::Step tuned(Changes &changes, const std::string &name, uint64_t value)
{
	const auto steps = tune(changes, {wish(name, value)});
	EXPECT_EQ(steps.size(), 1u);
	EXPECT_EQ(steps.at(0).name, name);
	return steps.at(0);
}

TEST(Tune, RaisesALimitAndNeverLowersOne)
{
	FakeHost host;
	const auto before = host.files();
	Changes changes(host.tree, host.head());
	const auto raised = tuned(changes, "net.core.rmem_max", 8'388'608);
	EXPECT_EQ(raised.state, StepState::Done);
	EXPECT_EQ(raised.found, "raised from 212992 to 8388608");
	EXPECT_EQ(host.read("proc/sys/net/core/rmem_max"), "8388608\n");
	const auto higher = tuned(changes, "net.core.wmem_max", 4096);
	EXPECT_EQ(higher.state, StepState::AlreadySo);
	EXPECT_EQ(higher.found, "it is 212992");
	EXPECT_EQ(host.read("proc/sys/net/core/wmem_max"), "212992\n");
	EXPECT_EQ(changes.put_back(), std::vector<std::string>());
	EXPECT_EQ(host.files(), before);
}

// The fake machine has 1 GiB available, and pages of 2 MiB.
TEST(Tune, TakesAtMostHalfOfTheMemoryForHugePages)
{
	FakeHost host;
	const auto before = host.files();
	Changes changes(host.tree, host.head());
	const auto most = tuned(changes, "vm.nr_hugepages", 3 + 257);
	EXPECT_EQ(most.state, StepState::NotPossible);
	EXPECT_EQ(most.found, "can't be set to 260: that is more than half of the memory that is available");
	EXPECT_EQ(host.files(), before);
	EXPECT_EQ(tuned(changes, "vm.nr_hugepages", 3 + 256).state, StepState::Done);
	EXPECT_EQ(host.read("proc/sys/vm/nr_hugepages"), "259\n");
}

// Pages that a program has mapped become surplus ones when they are taken back.
TEST(Tune, TellsOfHugePagesThatAreStillInUse)
{
	FakeHost host;
	Changes changes(host.tree, host.head());
	ASSERT_EQ(tuned(changes, "vm.nr_hugepages", 10).state, StepState::Done);
	host.write("/proc/meminfo", "HugePages_Surp:        1\nHugepagesize:       2048 kB");
	host.tree.at_change = [&](const std::string &, bool after) {
		if (after)
			host.write("/proc/meminfo", "HugePages_Surp:        3\nHugepagesize:       2048 kB");
		return 0;
	};
	EXPECT_EQ(changes.put_back(), std::vector<std::string>{
									  "2 huge pages (4096 KiB) that were added for the run are still in use, and go "
									  "once the programs that have mapped them end (HugePages_Surp in /proc/meminfo)"});
	EXPECT_EQ(host.read("proc/sys/vm/nr_hugepages"), "3\n");
	EXPECT_EQ(host.journal(), "") << "it is restored";
}

// As where memory is too fragmented for so many pages.
TEST(Tune, TakesBackWhatTheKernelDoesOtherwise)
{
	FakeHost host;
	const auto before = host.files();
	host.tree.at_change = [&, once = true](const std::string &, bool after) mutable {
		if (after && std::exchange(once, false))
			host.write("/proc/sys/vm/nr_hugepages", "5");
		return 0;
	};
	Changes changes(host.tree, host.head());
	const auto fewer = tuned(changes, "vm.nr_hugepages", 10);
	EXPECT_EQ(fewer.state, StepState::NotPossible);
	EXPECT_EQ(fewer.found, "can't be set to 10: it reads \"5\" after 10 was written");
	EXPECT_EQ(host.files(), before);
}

TEST(Tune, IsAllowedWithinBoundsOnly)
{
	EXPECT_TRUE(is_allowed(wish("net.core.rmem_max", kMostSocketBytes)));
	EXPECT_FALSE(is_allowed(wish("net.core.rmem_max", kMostSocketBytes + 1)));
	EXPECT_FALSE(is_allowed(wish("net.core.rmem_max", 0)));
	EXPECT_FALSE(is_allowed({static_cast<uint32_t>(std::size(kLimits)), 0, 1}));
	EXPECT_TRUE(is_of_the_machine(wish("vm.nr_hugepages", 1)));
	EXPECT_FALSE(is_of_the_machine(wish("fs.mqueue.msg_max", 1)));
	for (const Limit &limit : kLimits)
		EXPECT_TRUE(!limit.knob || place_of(limit.knob)) << limit.name;
}

TEST(Tune, ChangesNoNamespaceButTheRunsOwn)
{
	const auto steps = tune_ipc_namespace({wish("fs.mqueue.msg_max", 11), wish("net.core.rmem_max", 1)}, false);
	ASSERT_EQ(steps.size(), 1u) << "the others are the keeper's";
	EXPECT_EQ(steps[0].state, StepState::NotPossible);
	EXPECT_EQ(steps[0].found, "can't be set to 11: the run has no IPC namespace of its own");
}

} // namespace
} // namespace icepath::isolation
