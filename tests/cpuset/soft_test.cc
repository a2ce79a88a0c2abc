// SPDX-License-Identifier: Apache-2.0
// Each step of `--isolate` is reported, whatever its result.
#include "cpuset/soft.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

namespace icepath::cpuset {
namespace {

const Step *step_of(const std::vector<Step> &steps, const std::string &name)
{
	const auto step = std::ranges::find(steps, name, &Step::name);
	return step == steps.end() ? nullptr : &*step;
}

// In a child, which may give up its rights and limits.
void expect_in_a_child(const std::function<bool()> &holds)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(holds() ? 0 : 1);
	int status = -1;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
}

bool give_up(uint32_t capability)
{
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, 2> sets{};
	if (syscall(SYS_capget, &header, sets.data()))
		return false;
	sets[0].effective &= ~(1U << capability);
	sets[0].permitted &= ~(1U << capability);
	return syscall(SYS_capset, &header, sets.data()) == 0;
}

TEST(Soft, NoneIsPinningAlone)
{
	Soft soft(Level::None, false, true);
	EXPECT_EQ(soft.awake(), nullptr);
	EXPECT_FALSE(soft.locks_memory());
	ASSERT_EQ(soft.steps().size(), 1u);
	EXPECT_EQ(soft.steps()[0].name, "pinning");
}

TEST(Soft, LeavesIdleStatesToWhoAsksForThem)
{
	Soft soft(Level::Soft, true, false);
	EXPECT_EQ(soft.awake(), nullptr);
	const auto steps = soft.steps();
	ASSERT_NE(step_of(steps, "idle_states"), nullptr);
	EXPECT_EQ(step_of(steps, "idle_states")->state, StepState::Left);
}

TEST(Soft, TellsEachStepAndWhyItIsNotPossible)
{
	const Soft soft(Level::Soft, false, false);
	for (const char *name : {"pinning", "idle_states", "memory"}) {
		const auto steps = soft.steps();
		const Step *step = step_of(steps, name);
		ASSERT_NE(step, nullptr) << name;
		EXPECT_NE(step->state, StepState::Left) << name;
		EXPECT_FALSE(step->found.empty()) << name;
	}
}

TEST(Soft, RaisesTheLimitOfLockedMemoryWhereItMayAndElseSaysWhyNot)
{
	expect_in_a_child([] {
		const rlimit little{65536, 65536};
		return setrlimit(RLIMIT_MEMLOCK, &little) == 0 && (geteuid() != 0 || setresuid(65534, 65534, 65534) == 0) &&
			   [] {
				   const Soft soft(Level::Soft, true, false);
				   const auto steps = soft.steps();
				   const Step *memory = step_of(steps, "memory");
				   return !soft.locks_memory() && memory->state == StepState::NotPossible &&
						  memory->found == "RLIMIT_MEMLOCK stays at 64 KiB: Operation not permitted" &&
						  !memory->remedy.empty();
			   }();
	});
	if (geteuid() == 0)
		expect_in_a_child([] {
			const rlimit little{65536, 65536};
			if (setrlimit(RLIMIT_MEMLOCK, &little) || !give_up(CAP_SYS_RESOURCE))
				return false;
			const Soft soft(Level::Soft, true, true);
			const auto steps = soft.steps();
			return soft.locks_memory() && step_of(steps, "memory")->found ==
											  "workers' memory is locked; where middleware's is more than "
											  "RLIMIT_MEMLOCK, 64 KiB, it isn't";
		});
	expect_in_a_child([] {
		const Soft soft(Level::Soft, true, false);
		rlimit limit{};
		getrlimit(RLIMIT_MEMLOCK, &limit);
		return soft.locks_memory() == (limit.rlim_cur == RLIM_INFINITY);
	});
}

} // namespace
} // namespace icepath::cpuset
