// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/cpu_claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

// In its own folder, so that a run beside these tests doesn't matter.
class CpuClaims : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		make_claim_folder(folder_);
	}
	void TearDown() override { fs::remove_all(folder_); }

	CpuClaim claim(std::vector<uint32_t> cpus) const { return {std::move(cpus), getpid(), folder_}; }

	std::string refusal(std::vector<uint32_t> cpus) const
	{
		try {
			claim(std::move(cpus));
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
			return failure.what();
		}
		return "";
	}

	const fs::path folder_ = fs::temp_directory_path() / ("icepath-claims-" + std::to_string(getpid()));
};

TEST_F(CpuClaims, RefusesACpuThatAnotherRunHasAndNamesBoth)
{
	const CpuClaim held = claim({0, 1});
	const std::string sentence = refusal({1, 2});
	EXPECT_NE(sentence.find("(pid " + std::to_string(getpid()) + ")"), std::string::npos) << sentence;
	EXPECT_NE(sentence.find("CPU " + std::to_string(1)), std::string::npos) << sentence;
	EXPECT_NE(sentence.find("--cpus"), std::string::npos) << sentence;
}

TEST_F(CpuClaims, AllowsOtherCpus)
{
	const CpuClaim held = claim({0, 1});
	EXPECT_EQ(refusal({2, 3}), "");
}

TEST_F(CpuClaims, OneCpuForBothSidesIsNoConflict) { EXPECT_EQ(refusal({0, 0}), ""); }

TEST_F(CpuClaims, ARefusedClaimHoldsNothing)
{
	const CpuClaim held = claim({1});
	EXPECT_NE(refusal({0, 1}), "");
	EXPECT_EQ(refusal({0}), "");
}

TEST_F(CpuClaims, NamesTheHolderHoweverOftenItIsAsked)
{
	const CpuClaim held = claim({0});
	for (int i = 0; i < 20; i++)
		EXPECT_NE(refusal({0}).find("(pid "), std::string::npos) << i;
}

TEST_F(CpuClaims, GoesWithItsProcessEvenIfThatIsKilled)
{
	int ready[2];
	ASSERT_EQ(pipe(ready), 0);
	const pid_t child = fork();
	if (child == 0) {
		const CpuClaim held = claim({0});
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	char byte = 0;
	ASSERT_EQ(read(ready[0], &byte, 1), 1);
	EXPECT_NE(refusal({0}).find("(pid " + std::to_string(child) + ")"), std::string::npos);
	kill(child, SIGKILL);
	waitpid(child, nullptr, 0);
	EXPECT_EQ(refusal({0}), "");
	close(ready[0]);
	close(ready[1]);
}

// A helper that is about to end still holds its icepath's CPUs.
TEST_F(CpuClaims, OfAProcessThatHasEndedAreWaitedFor)
{
	const pid_t ended = fork();
	if (ended == 0)
		_exit(0);
	waitpid(ended, nullptr, 0);
	auto held = std::make_unique<CpuClaim>(std::vector<uint32_t>{0}, ended, folder_);
	std::thread helper([&] {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		held.reset();
	});
	EXPECT_EQ(refusal({0}), "");
	helper.join();
}

TEST_F(CpuClaims, LeaveNoFile)
{
	{
		const CpuClaim held = claim({0, 1});
		EXPECT_TRUE(fs::exists(folder_ / "cpu-0"));
		EXPECT_NE(refusal({1, 2}), "");
	}
	EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(CpuClaims, TrustNoFolderThatOthersMayWrite)
{
	fs::permissions(folder_, fs::perms::all);
	EXPECT_NE(refusal({0}).find("must be root's"), std::string::npos);
	fs::permissions(folder_, fs::perms::owner_all);
	EXPECT_EQ(refusal({0}), "");
	if (geteuid() == 0) {
		ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
		EXPECT_NE(refusal({0}).find("must be root's"), std::string::npos);
	}
}

TEST_F(CpuClaims, FollowNoLink)
{
	const fs::path elsewhere = folder_.string() + "-elsewhere";
	fs::create_directory(elsewhere);
	fs::remove(folder_);
	fs::create_symlink(elsewhere, folder_);
	make_claim_folder(folder_);
	EXPECT_EQ(fs::status(elsewhere).permissions(), fs::perms{0755});
	EXPECT_NE(refusal({0}), "");
	fs::remove(folder_);
	fs::create_directory(folder_);
	fs::create_symlink(elsewhere / "file", folder_ / "cpu-0");
	EXPECT_NE(refusal({0}), "");
	EXPECT_TRUE(fs::is_empty(elsewhere));
	fs::remove_all(elsewhere);
}

} // namespace
} // namespace icepath::privilege
