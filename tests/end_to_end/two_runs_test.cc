// SPDX-License-Identifier: Apache-2.0
// Two runs at once: on the same CPUs they would measure each other; on different ones they are allowed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> on_cpus(const std::string &cpus, const std::string &output, const std::string &seconds = "2")
{
	return {icepath_program(), "run", "-t",    "pipe",   "-s", "64", "--patterns",
			"pingpong",        "-d",  seconds, "--cpus", cpus, "-o", output};
}

void await_rounds(const Running &running)
{
	for (int i = 0; i < 1000 && running.err_so_far().find("round 1") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	ASSERT_NE(running.err_so_far().find("round 1"), std::string::npos) << running.err_so_far();
}

// Two runs on one host are in the table of faults.
TEST(TwoRuns, OnOneCpuAreRefusedFromAContainerToo)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running first(on_cpus("0,1", "first", "60"), folder.path()); // it is killed
	await_rounds(first);
	std::vector<std::string> arguments = on_cpus("1,1", "second");
	arguments.insert(arguments.begin(), {"unshare", "--net"});
	const Outcome second = run(arguments, folder.path());
	EXPECT_EQ(second.exit_code, 3);
	EXPECT_NE(second.err.find("(pid " + std::to_string(first.pid()) + ") is measuring on CPU 1"), std::string::npos)
		<< second.err;
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "second"));
	kill_process(first.pid(), SIGKILL);
	first.wait(10s);
	EXPECT_EQ(run(on_cpus("0,1", "third"), folder.path()).exit_code, 0) << "what was killed holds nothing";
}

TEST(TwoRuns, OnOtherCpusAreAllowed)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running first(on_cpus("0,0", "first", "4"), folder.path());
	await_rounds(first);
	const Outcome second = run(on_cpus("1,1", "second"), folder.path());
	EXPECT_EQ(second.exit_code, 0) << second.err;
	EXPECT_EQ(first.wait(20s).exit_code, 0);
}

} // namespace
} // namespace icepath::end_to_end
