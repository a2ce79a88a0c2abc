// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/host.h"

#include <gtest/gtest.h>

#include "tests/cpuset/fake_machine.h"

namespace icepath::machine {
namespace {

TEST(DescribeIsolation, HasWhatWasFoundAndDone)
{
	cpuset::FakeMachine fake;
	cpuset::make_laptop(fake);
	const cpuset::Machine machine = fake.read();
	const std::vector<cpuset::Step> steps = {{"pinning", cpuset::StepState::Done, "each side has its CPU", ""},
											 {"idle_states", cpuset::StepState::NotPossible, "no such file", "sudo"}};
	const model::Isolation told = describe_isolation(
		cpuset::look_at_isolation(machine, cpuset::choose_pair(machine), cpuset::Level::Soft, steps));
	EXPECT_EQ(told.sender_cpu, 1u);
	EXPECT_EQ(told.receiver_cpu, 2u);
	EXPECT_EQ(told.housekeeping_cpus, "0,3-7");
	EXPECT_EQ(told.daemon_cpus, "0,3-7");
	EXPECT_EQ(told.level, model::IsolationLevel::Soft);
	ASSERT_EQ(told.steps.size(), 2u);
	EXPECT_EQ(told.steps[1],
			  (model::IsolationStep{"idle_states", model::IsolationState::NotPossible, "no such file", "sudo"}));
	ASSERT_TRUE(told.items);
	EXPECT_EQ(told.items->size(), 10u);
	for (const model::Disturbance &item : *told.items)
		EXPECT_EQ(item.quiet, item.effect.empty()) << item.name;
}

TEST(DescribeIsolation, SaysNothingOfStepsThatNobodyTold)
{
	cpuset::FakeMachine fake;
	cpuset::make_laptop(fake);
	const cpuset::Machine machine = fake.read();
	const model::Isolation told = describe_isolation(cpuset::look_at_isolation(machine, cpuset::choose_pair(machine)));
	EXPECT_FALSE(told.level);
	EXPECT_TRUE(told.steps.empty());
}

TEST(DescribeHost, KnowsThisMachine)
{
	privilege::Identity user;
	user.name = "somebody";
	const model::Host host = describe_host(user);
	EXPECT_EQ(host.user, "somebody");
	EXPECT_FALSE(host.kernel.empty());
	EXPECT_GT(host.cpus_online, 0u);
	EXPECT_GT(host.memory_bytes, 1u << 20);
	EXPECT_TRUE(host.hypervisor && host.preempt_rt && host.plain_root);
}

} // namespace
} // namespace icepath::machine
