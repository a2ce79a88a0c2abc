// SPDX-License-Identifier: Apache-2.0
// Each test runs in a child, whose "host" is a namespace of the test's own: this machine's limits stay untouched.
#include "profiler/privilege/ipc_namespace.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/msg.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace icepath::privilege {
namespace {

constexpr const char *kMsgMax = "/proc/sys/kernel/msgmax";
constexpr const char *kMqMsgMax = "/proc/sys/fs/mqueue/msg_max";

long limit(const char *path)
{
	long value = -1;
	std::ifstream(path) >> value;
	return value;
}

void set_limit(const char *path, long value) { std::ofstream(path) << value << std::flush; }

[[noreturn]] void leave(bool right, const char *what)
{
	if (!right)
		std::fprintf(stderr, "not so: %s\n", what);
	_exit(right ? 0 : 1);
}

class OwnIpc : public testing::Test {
protected:
	void SetUp() override
	{
		GTEST_FLAG_SET(death_test_style, "threadsafe");
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

TEST_F(OwnIpc, HasTheHostsLimits)
{
	EXPECT_EXIT(
		{
			unshare(CLONE_NEWIPC);
			set_limit(kMsgMax, 12345);
			set_limit(kMqMsgMax, 17);
			const auto notice = enter_own_ipc_namespace();
			leave(!notice && limit(kMsgMax) == 12345 && limit(kMqMsgMax) == 17, "same limits, no notice");
		},
		testing::ExitedWithCode(0), "");
}

TEST_F(OwnIpc, DoesNotSeeTheHostsQueues)
{
	EXPECT_EXIT(
		{
			unshare(CLONE_NEWIPC);
			const int queue = msgget(IPC_PRIVATE, 0600);
			msqid_ds state{};
			const bool seen_before = msgctl(queue, IPC_STAT, &state) == 0;
			const auto notice = enter_own_ipc_namespace();
			leave(!notice && seen_before && msgctl(queue, IPC_STAT, &state) != 0,
				  "a queue of the host is gone from view");
		},
		testing::ExitedWithCode(0), "");
}

TEST_F(OwnIpc, IsDoneWithoutWhereItIsRefused)
{
	EXPECT_EXIT(
		{
			const bool dropped = setresuid(65534, 65534, 65534) == 0;
			const auto notice = enter_own_ipc_namespace();
			leave(dropped && notice && notice->find("ipcrm") != std::string::npos, "a notice that says what to do");
		},
		testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace icepath::privilege
