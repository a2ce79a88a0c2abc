// SPDX-License-Identifier: Apache-2.0
// Uses the kernel's own file, whose value includes the requests of other processes, so these tests run alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "cpuset/kept_awake.h"
#include "tests/cpuset/latency_file.h"

namespace icepath::cpuset {
namespace {

class KeptAwakeHere : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (!std::filesystem::exists(kLatencyFile))
			GTEST_SKIP() << "this kernel has no cpuidle";
		ASSERT_NE(read_us(kLatencyFile), 0) << "somebody else keeps this machine's CPUs awake";
	}
	// Without a cpuidle driver, as in some virtual machines, a request has no effect and isn't made.
	static bool works_here() { return KeptAwake().works(); }
};

TEST_F(KeptAwakeHere, LastsFromHoldingToLettingGo)
{
	const int32_t before = read_us(kLatencyFile);
	KeptAwake kept;
	EXPECT_EQ(read_us(kLatencyFile), before);
	EXPECT_FALSE(kept.hold());
	EXPECT_EQ(read_us(kLatencyFile), kept.works() ? 0 : before) << kept.step().found;
	EXPECT_FALSE(kept.let_go());
	EXPECT_EQ(read_us(kLatencyFile), before);
}

TEST_F(KeptAwakeHere, NeedsRootToBeOpenedAndNotToHold_AndGoesWithAKilledProcess)
{
	const int32_t before = read_us(kLatencyFile);
	int told[2];
	ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
	const pid_t child = fork();
	if (child == 0) {
		KeptAwake kept;
		const bool gave_up_root = setresuid(65534, 65534, 65534) == 0;
		const bool held = gave_up_root && !kept.hold();
		const bool opens_again = gave_up_root && KeptAwake().works();
		const char answer = held && !opens_again ? 'y' : 'n';
		if (write(told[1], &answer, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	char answer = 0;
	ASSERT_EQ(read(told[0], &answer, 1), 1);
	EXPECT_EQ(answer, 'y');
	EXPECT_EQ(read_us(kLatencyFile), works_here() ? 0 : before);
	kill(child, SIGKILL);
	waitpid(child, nullptr, 0);
	EXPECT_EQ(read_us(kLatencyFile), before);
	close(told[0]);
	close(told[1]);
}

TEST_F(KeptAwakeHere, IsInheritedByNoProgram)
{
	const KeptAwake kept;
	// The executed program must inherit no such descriptor.
	EXPECT_EQ(std::system("ls -l /proc/self/fd | grep -q cpu_dma_latency"), 256) << "grep found it";
}

} // namespace
} // namespace icepath::cpuset
