// SPDX-License-Identifier: Apache-2.0
// What icepath doesn't attach to, and who may not attach.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "profiler/failure.h"
#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

class Refusals : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

std::string refusal_of(const std::function<void()> &act)
{
	try {
		act();
	} catch (const Failure &failure) {
		return failure.what();
	}
	return "";
}

std::string refusal_of_target(pid_t process)
{
	return refusal_of([&] {
		const std::vector<OpenTarget> targets = open_targets({process});
		privilege::Helper helper(privilege::invoking_user());
		(void)helper.take_target(targets[0].pidfd.get());
	});
}

TEST_F(Refusals, ProcessesThatDontExist) { EXPECT_EQ(refusal_of_target(4'000'000), "there is no process 4000000"); }

TEST_F(Refusals, ThreadsOfProcesses)
{
	Program program([](Shared &shared) {
		std::thread([&] {
			shared.tids[0] = static_cast<uint32_t>(gettid());
			shared.is_ready = 1;
			pause();
		}).join();
	});
	program.await_ready();
	const std::string refusal = refusal_of_target(static_cast<pid_t>(program.shared().tids[0].load()));
	EXPECT_NE(refusal.find("is a thread of process " + std::to_string(program.pid())), std::string::npos) << refusal;
}

TEST_F(Refusals, ThreadsOfTheKernel)
{
	const std::string refusal = refusal_of_target(2); // kthreadd
	EXPECT_NE(refusal.find("thread of the kernel"), std::string::npos) << refusal;
}

TEST_F(Refusals, Itself)
{
	const std::string refusal = refusal_of_target(getpid());
	EXPECT_NE(refusal.find("icepath itself"), std::string::npos) << refusal;
}

TEST_F(Refusals, TheSameTwice)
{
	const Program program([](Shared &) { pause(); });
	const std::string refusal = refusal_of([&] {
		const std::vector<OpenTarget> targets = open_targets({program.pid()});
		privilege::Helper helper(privilege::invoking_user());
		(void)helper.take_target(targets[0].pidfd.get());
		(void)helper.take_target(targets[0].pidfd.get());
	});
	EXPECT_NE(refusal.find("is named twice"), std::string::npos) << refusal;
}

// Otherwise a user who may run `sudo icepath run` could watch root's programs with it.
TEST_F(Refusals, OnceIcepathIsTheUser)
{
	const Program program([](Shared &) { pause(); });
	const pid_t icepath = fork();
	if (icepath == 0) {
		privilege::Identity user = privilege::invoking_user();
		user.uid = user.gid = 65534;
		user.groups = {65534};
		user.stays_root = false;
		const std::vector<OpenTarget> targets = open_targets({program.pid()});
		privilege::Helper helper(user);
		privilege::become(user);
		const std::string refusal = refusal_of([&] { (void)helper.take_target(targets[0].pidfd.get()); });
		_exit(refusal.starts_with("only root may name programs to watch") ? 0 : 1);
	}
	int status = 0;
	waitpid(icepath, &status, 0);
	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(Refusals, OnceTheProbesAreLoaded)
{
	const Program program([](Shared &) { pause(); });
	const std::vector<OpenTarget> targets = open_targets({program.pid()});
	privilege::Helper helper(privilege::invoking_user());
	(void)helper.load({0}, 64);
	const std::string refusal = refusal_of([&] { (void)helper.take_target(targets[0].pidfd.get()); });
	EXPECT_NE(refusal.find("too late"), std::string::npos) << refusal;
}

} // namespace
} // namespace icepath::attach
