// SPDX-License-Identifier: Apache-2.0
// Things die in the middle of a run: what was measured is kept, the user is told by name, and nothing stays behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <regex>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

// Reports wrap their lines.
bool mentions(const std::string &text, const std::string &sentence)
{
	return std::regex_replace(text, std::regex("\\s+"), " ").find(sentence) != std::string::npos;
}

class Death : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		before = traces_before();
		running = std::make_unique<Running>(std::vector<std::string>{icepath_program(), "run", "-t",
																	 "uds-stream,pipe,mqueue,sysv-mq", "-s", "64",
																	 "--patterns", "pingpong", "-d", "13", "-o", "out"},
											folder.path());
		// Rounds have begun once progress speaks of the third.
		for (int i = 0; i < 2000 && running->err_so_far().find("round 3") == std::string::npos; i++)
			std::this_thread::sleep_for(10ms);
		ASSERT_NE(running->err_so_far().find("round 3"), std::string::npos) << running->err_so_far();
	}

	// Everything that icepath left must be gone shortly after its end.
	void expect_nothing_left() const { EXPECT_EQ(traces_after(before), before); }

	static uint64_t probed(const nlohmann::json &cell) { return cell["messages"]["probed"]; }

	Folder folder;
	Traces before;
	std::unique_ptr<Running> running;
};

TEST_F(Death, AKilledWorkerEndsItsCellAndNoOther)
{
	const auto workers = children_named(running->pid(), "initiator");
	ASSERT_EQ(workers.size(), 4u);
	kill_process(workers[1], SIGKILL);
	const Outcome outcome = running->wait(40s);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_TRUE(mentions(outcome.out, "the initiator of")) << outcome.out;
	EXPECT_TRUE(mentions(outcome.out, "was killed by signal 9")) << outcome.out;
	const auto json = read_json(folder.path() / "out/run.json");
	uint64_t most = 0, least = UINT64_MAX;
	for (const auto &cell : json["cells"]) {
		EXPECT_GT(probed(cell), 0u) << "what was measured is kept";
		most = std::max(most, probed(cell));
		least = std::min(least, probed(cell));
	}
	EXPECT_GT(most, 2 * least) << "the other cells went on";
	expect_nothing_left();
}

TEST(StrictDeath, SaysWhyItIsInvalid)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running running({icepath_program(), "run", "-t", "pipe,mqueue", "-s", "64", "--patterns", "pingpong", "-d", "6",
					 "--strict", "-o", "out"},
					folder.path());
	for (int i = 0; i < 1000 && running.err_so_far().find("round 3") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	const auto workers = children_named(running.pid(), "responder");
	ASSERT_EQ(workers.size(), 2u);
	kill_process(workers[0], SIGKILL);
	const Outcome outcome = running.wait(40s);
	EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
	EXPECT_NE(outcome.err.find("icepath: --strict: blocks that failed: 1\n"), std::string::npos) << outcome.err;
}

TEST_F(Death, AKilledHelperEndsTheProbesAndIsNamed)
{
	const auto helpers = children_named(running->pid(), "icepath-helper");
	ASSERT_EQ(helpers.size(), 1u);
	kill_process(helpers[0], SIGKILL);
	const Outcome outcome = running->wait(40s);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_TRUE(mentions(outcome.out, "the root helper died")) << outcome.out;
	const auto json = read_json(folder.path() / "out/run.json");
	for (const auto &cell : json["cells"])
		EXPECT_GT(probed(cell), 0u);
	expect_nothing_left();
}

TEST_F(Death, SigkillLeavesNothingAndAReadablePartialRun)
{
	kill_process(running->pid(), SIGKILL);
	running->wait(10s);
	expect_nothing_left();
	const Outcome report = run({icepath_program(), "report", "out"}, folder.path());
	EXPECT_EQ(report.exit_code, 0) << report.err;
	EXPECT_TRUE(mentions(report.out, "the run isn't finished")) << report.out;
	EXPECT_NE(report.out.find("uds-stream"), std::string::npos) << report.out;
}

// No worker gets to tidy up: what is left is what only the kernel can take away, such as System V queues.
TEST_F(Death, SigkillOfEveryProcessLeavesNothing)
{
	for (const char *name : {"initiator", "responder"})
		for (const pid_t worker : children_named(running->pid(), name))
			kill_process(worker, SIGKILL);
	kill_process(running->pid(), SIGKILL);
	running->wait(10s);
	expect_nothing_left();
}

TEST_F(Death, InterruptKeepsThePartialResult)
{
	running->signal(SIGINT);
	const Outcome outcome = running->wait(20s);
	EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
	EXPECT_LT(outcome.seconds, 15);
	EXPECT_NE(outcome.out.find("interrupted"), std::string::npos) << outcome.out;
	EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/run.json"));
	expect_nothing_left();
}

} // namespace
} // namespace icepath::end_to_end
