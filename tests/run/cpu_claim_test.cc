// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/cpu_claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

// Of no machine, so that a run beside these tests doesn't matter.
const uint32_t kFirst = 1'000'000 + static_cast<uint32_t>(getpid()) * 10;

std::string refusal(std::vector<uint32_t> cpus)
{
	try {
		const CpuClaim claim(std::move(cpus));
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		return failure.what();
	}
	return "";
}

TEST(CpuClaim, RefusesACpuThatAnotherRunHasAndNamesBoth)
{
	const CpuClaim claim({kFirst, kFirst + 1});
	const std::string sentence = refusal({kFirst + 1, kFirst + 2});
	EXPECT_NE(sentence.find("(pid " + std::to_string(getpid()) + ")"), std::string::npos) << sentence;
	EXPECT_NE(sentence.find("CPU " + std::to_string(kFirst + 1)), std::string::npos) << sentence;
	EXPECT_NE(sentence.find("--cpus"), std::string::npos) << sentence;
}

TEST(CpuClaim, AllowsOtherCpus)
{
	const CpuClaim claim({kFirst, kFirst + 1});
	EXPECT_EQ(refusal({kFirst + 2, kFirst + 3}), "");
}

TEST(CpuClaim, OneCpuForBothSidesIsNoConflict) { EXPECT_EQ(refusal({kFirst, kFirst}), ""); }

TEST(CpuClaim, ARefusedClaimHoldsNothing)
{
	const CpuClaim claim({kFirst + 1});
	EXPECT_NE(refusal({kFirst, kFirst + 1}), "");
	EXPECT_EQ(refusal({kFirst}), "");
}

TEST(CpuClaim, NamesTheHolderHoweverOftenItIsAsked)
{
	const CpuClaim claim({kFirst});
	for (int i = 0; i < 20; i++)
		EXPECT_NE(refusal({kFirst}).find("(pid "), std::string::npos) << i;
}

TEST(CpuClaim, GoesWithItsProcessEvenIfThatIsKilled)
{
	int ready[2];
	ASSERT_EQ(pipe(ready), 0);
	const pid_t child = fork();
	if (child == 0) {
		const CpuClaim claim({kFirst});
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	char byte = 0;
	ASSERT_EQ(read(ready[0], &byte, 1), 1);
	EXPECT_NE(refusal({kFirst}).find("(pid " + std::to_string(child) + ")"), std::string::npos);
	kill(child, SIGKILL);
	waitpid(child, nullptr, 0);
	EXPECT_EQ(refusal({kFirst}), "");
	close(ready[0]);
	close(ready[1]);
}

} // namespace
} // namespace icepath::run
