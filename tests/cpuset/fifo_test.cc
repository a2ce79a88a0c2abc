// SPDX-License-Identifier: Apache-2.0
// The right to SCHED_FIFO, and machines that threads which never sleep would take whole.
#include "cpuset/fifo.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "profiler/failure.h"
#include "tests/cpuset/fake_machine.h"

namespace icepath::cpuset {
namespace {

constexpr uid_t kNobody = 65534;

Machine with_real_time(const std::string &runtime_us)
{
	FakeMachine machine;
	make_virtual_machine(machine);
	machine.write("/proc/sys/kernel/sched_rt_runtime_us", runtime_us);
	machine.write("/proc/sys/kernel/sched_rt_period_us", "1000000");
	return machine.read();
}

TEST(FifoWithoutSleep, IsStoppedWhereRealTimeIsLimited)
{
	const auto pauses = fifo_without_sleep(with_real_time("950000"), {0, 1});
	ASSERT_TRUE(pauses);
	EXPECT_NE(pauses->find("up to 50 of every 1000 ms"), std::string::npos) << *pauses;
}

TEST(FifoWithoutSleep, NeverHasEveryCpuWithoutALimit)
{
	for (const char *runtime_us : {"-1", "1000000"}) {
		SCOPED_TRACE(runtime_us);
		EXPECT_EQ(fifo_without_sleep(with_real_time(runtime_us), {1, 1}), std::nullopt);
		EXPECT_THROW((void)fifo_without_sleep(with_real_time(runtime_us), {1, 0}), Failure);
	}
}

TEST(FifoWithoutSleep, IsStoppedByTheFairServerWithoutALimitToo)
{
	FakeMachine machine;
	make_virtual_machine(machine);
	machine.write("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	machine.write("/proc/sys/kernel/osrelease", "6.18.44");
	const auto pauses = fifo_without_sleep(machine.read(), {0, 1});
	ASSERT_TRUE(pauses);
	EXPECT_NE(pauses->find("up to 50 of every 1000 ms, once they have run for 950 (the fair server"), std::string::npos)
		<< *pauses;
	for (const char *cpu : {"0", "1"}) {
		const std::string folder = "/sys/kernel/debug/sched/fair_server/cpu" + std::string(cpu);
		machine.write(folder + "/runtime", "0");
		machine.write(folder + "/period", "1000000000");
	}
	machine.write("/proc/sys/kernel/sched_rt_runtime_us", "950000"); // which no longer limits
	EXPECT_THROW((void)fifo_without_sleep(machine.read(), {0, 1}), Failure);
}

// Whether it holds in a child, whose rights and limits end with it.
bool holds_in_a_child(const std::function<bool()> &holds)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(holds() ? 0 : 1);
	int status = -1;
	waitpid(child, &status, 0);
	return status == 0;
}

bool becomes(int priority)
{
	sched_param parameters{};
	parameters.sched_priority = priority;
	return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
}

// Root may raise the limit if it has CAP_SYS_RESOURCE, which containers often take away: setrlimit(2).
bool may_raise_limits()
{
	const rlimit one{1, 1};
	return setrlimit(RLIMIT_RTPRIO, &one) == 0;
}

TEST(AllowFifo, IsForThePriorityAlone)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	EXPECT_TRUE(holds_in_a_child([] {
		try {
			allow_fifo(3, false);
		} catch (const Failure &) {
			return !may_raise_limits();
		}
		const bool is_as_before = sched_getscheduler(0) == SCHED_OTHER;
		return setresuid(kNobody, kNobody, kNobody) == 0 && is_as_before && becomes(4) && !becomes(5);
	}));
	EXPECT_TRUE(holds_in_a_child([] {
		allow_fifo(3, true);
		return sched_getscheduler(0) == SCHED_OTHER && becomes(3);
	})) << "workers of root's need no limit";
	EXPECT_TRUE(holds_in_a_child([] { return setresuid(kNobody, kNobody, kNobody) == 0 && !becomes(1); }));
}

TEST(FifoRights, AreWhatAllowFifoCouldDoAndChangeNothing)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	for (const bool stays_root : {false, true})
		EXPECT_TRUE(holds_in_a_child([&] {
			rlimit before{}, after{};
			getrlimit(RLIMIT_RTPRIO, &before);
			const FifoRights told = fifo_rights(stays_root);
			getrlimit(RLIMIT_RTPRIO, &after);
			const bool as_before = before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max &&
								   sched_getscheduler(0) == SCHED_OTHER;
			const bool may_raise = may_raise_limits();
			return as_before && told.sides == (may_raise || stays_root) && told.middleware == may_raise;
		}));
	EXPECT_TRUE(holds_in_a_child([] {
		const rlimit none{0, 0};
		if (setrlimit(RLIMIT_RTPRIO, &none) || setresuid(kNobody, kNobody, kNobody))
			return false;
		const FifoRights told = fifo_rights(false);
		return !told.sides && !told.middleware;
	})) << "without a right";
}

TEST(AllowFifo, IsAFailureWithoutTheRight)
{
	EXPECT_TRUE(holds_in_a_child([] {
		if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody))
			return false;
		try {
			allow_fifo(1, false);
		} catch (const Failure &failure) {
			return std::string(failure.what()).find("SCHED_FIFO with priority 1") != std::string::npos;
		}
		return false;
	}));
}

} // namespace
} // namespace icepath::cpuset
