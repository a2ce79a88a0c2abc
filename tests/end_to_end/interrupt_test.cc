// SPDX-License-Identifier: Apache-2.0
// Ctrl-C at any time: exit code 130, and the results so far, or the statement that there are none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

class Interrupt : public testing::TestWithParam<int> {};

// The times are arbitrary: the requirements hold at each.
TEST_P(Interrupt, EndsInOrder)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Traces before = traces_before();
	Running running({icepath_program(), "run", "-d", "20", "-o", "out"}, folder.path());
	std::this_thread::sleep_for(std::chrono::milliseconds(GetParam()));
	running.signal(SIGINT);
	const Outcome outcome = running.wait(20s);
	EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
	if (std::filesystem::exists(folder.path() / "out")) {
		EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/run.json")) << outcome.err;
		EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/capture.icp"));
		EXPECT_TRUE(read_json(folder.path() / "out/run.json")["icepath"]["interrupted"]);
		EXPECT_NE(outcome.out.find("interrupted"), std::string::npos) << outcome.out;
	} else {
		EXPECT_EQ(outcome.out, "");
		// It may come before the program handles it: then the signal itself ends the program.
		EXPECT_TRUE(outcome.err.empty() ||
					outcome.err == "icepath: interrupted before anything was measured: nothing was kept\n")
			<< outcome.err;
	}
	EXPECT_EQ(traces_after(before), before);
}

INSTANTIATE_TEST_SUITE_P(AfterMilliseconds, Interrupt, testing::Values(0, 5, 20, 50, 100, 200, 400, 700, 1000));

// Blocks of slow messages are long: icepath may wait for the present message, but not for the block.
TEST(InterruptOfALongBlock, DoesntWaitForItsEnd)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running running(
		{icepath_program(), "run", "-t", "pipe", "--patterns", "oneway", "--rate", "5", "-d", "60", "-o", "out"},
		folder.path());
	for (int i = 0; i < 1000 && running.err_so_far().find("round 1") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	std::this_thread::sleep_for(500ms); // a block takes ten seconds, so this is within the first one
	const auto signalled = std::chrono::steady_clock::now();
	running.signal(SIGINT);
	const Outcome outcome = running.wait(20s);
	EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
	EXPECT_LT(std::chrono::steady_clock::now() - signalled, 5s);
	EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/run.json"));
}

// A measurement of noise keeps nothing, and restores what it has changed.
struct NoiseCase {
	int signal;
	bool isolated; // by then
};

class InterruptOfNoise : public testing::TestWithParam<NoiseCase> {};

TEST_P(InterruptOfNoise, EndsInOrder)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	if (std::thread::hardware_concurrency() < 2)
		GTEST_SKIP() << "there is no CPU for the rest of the machine";
	const std::string last_cpu = std::to_string(std::thread::hardware_concurrency() - 1);
	const auto isolates = [] { return !first_line("/run/icepath.journal").empty(); };
	const Folder folder;
	const Traces before = traces_before();
	Running running({icepath_program(), "doctor", "--noise", "-d", GetParam().isolated ? "6" : "120", "--isolate",
					 "full", "--cpus", last_cpu + "," + last_cpu},
					folder.path());
	if (GetParam().isolated)
		for (int i = 0; i < 6000 && !isolates(); i++)
			std::this_thread::sleep_for(10ms);
	else
		for (int i = 0; i < 3000 && children_named(running.pid(), "icepath-noise").empty(); i++)
			std::this_thread::sleep_for(10ms);
	EXPECT_EQ(isolates(), GetParam().isolated) << running.err_so_far();
	running.signal(GetParam().signal);
	const Outcome outcome = running.wait(20s);
	EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
	EXPECT_EQ(outcome.err, "icepath: interrupted: nothing is reported\n");
	EXPECT_EQ(outcome.out, "");
	EXPECT_EQ(traces_after(before), before);
}

INSTANTIATE_TEST_SUITE_P(All, InterruptOfNoise,
						 testing::Values(NoiseCase{SIGTERM, false}, NoiseCase{SIGTERM, true}, NoiseCase{SIGINT, true}),
						 [](const auto &which) {
							 return std::string(which.param.signal == SIGTERM ? "Sigterm" : "Sigint") +
									(which.param.isolated ? "Isolated" : "Before");
						 });

} // namespace
} // namespace icepath::end_to_end
