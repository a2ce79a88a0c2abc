// SPDX-License-Identifier: Apache-2.0
// icepath's side of the helper: its sentences arrive, and its death is reported as such.
#include "profiler/privilege/root_helper.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

class HelperOfIcepath : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

Identity self()
{
	Identity user;
	user.uid = getuid();
	user.was_root = true;
	return user;
}

TEST_F(HelperOfIcepath, NeedsRoot)
{
	Identity user;
	user.was_root = false;
	try {
		const Helper helper(user);
		ADD_FAILURE() << "it was forked";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		EXPECT_NE(std::string(failure.what()).find("sudo"), std::string::npos) << failure.what();
	}
}

TEST_F(HelperOfIcepath, PassesItsSentencesOn)
{
	Helper helper(self());
	const Fd own = pidfd_of(getpid());
	try {
		helper.add_worker(own.get());
		ADD_FAILURE() << "it took a stranger";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Internal);
		EXPECT_STREQ(failure.what(), "the root helper touches only workers of the icepath that started it");
	}
	const Child child;
	EXPECT_EQ(helper.add_worker(child.pidfd()), 0u);
}

TEST_F(HelperOfIcepath, IsNotAskedForMoreCpusThanItCanWatch)
{
	Helper helper(self());
	try {
		helper.load(std::vector<uint32_t>(kMaxCaptureCpus + 1), 1024);
		ADD_FAILURE() << "it was asked";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("65"), std::string::npos) << failure.what();
	}
}

TEST_F(HelperOfIcepath, DiesOnlyWhenIcepathWantsIt)
{
	Helper helper(self());
	const Child child;
	helper.add_worker(child.pidfd()); // it runs, and its signal handlers are set
	for (const int signal : {SIGINT, SIGTERM, SIGHUP})
		kill(helper.pid(), signal);
	EXPECT_EQ(helper.add_worker(child.pidfd()), 1u);
}

TEST_F(HelperOfIcepath, ItsDeathIsTold)
{
	{
		Helper helper(self());
		kill(helper.pid(), SIGKILL);
		siginfo_t end{};
		waitid(P_PID, static_cast<id_t>(helper.pid()), &end, WEXITED | WNOWAIT);
		EXPECT_THROW(helper.attach(0), HelperDied);
		EXPECT_THROW(helper.end_block(), HelperDied);
		EXPECT_THROW(helper.load({0}, 1024), HelperDied);
		EXPECT_THROW(helper.add_worker(0), HelperDied);
	}
	EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "it wasn't reaped";
}

// icepath may kill it, so its probes are gone. Under sudo: HelperStopped in tests/end_to_end/faults.cc.
TEST_F(HelperOfIcepath, OneThatDoesNotAnswerIsEnded)
{
	Helper helper(self());
	const pid_t pid = helper.pid();
	kill(pid, SIGSTOP);
	try {
		helper.attach(0);
		ADD_FAILURE() << "a stopped process answered";
	} catch (const HelperDied &died) {
		EXPECT_FALSE(died.probes_may_be_attached()) << died.what();
	}
	EXPECT_EQ(kill(pid, 0), -1) << "it is still there";
}

} // namespace
} // namespace icepath::privilege
