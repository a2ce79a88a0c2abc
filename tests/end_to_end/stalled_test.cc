// SPDX-License-Identifier: Apache-2.0
// What stalls or runs out in the middle of a run: no figure is made up, what was measured is kept, and a sentence says why.
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "profiler/rundir/container.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

class Stalled : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
	Folder folder;
};

void await_round(const Running &running, const std::string &round)
{
	for (int i = 0; i < 2000 && running.err_so_far().find(round) == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	ASSERT_NE(running.err_so_far().find(round), std::string::npos) << running.err_so_far();
}

// Its probes would stay attached, and blocks that are called unprobed would have them: the user ends it, and its probes with it.
TEST_F(Stalled, AHelperThatHangsWithItsProbesIsEnded)
{
	const passwd *nobody = getpwnam("nobody");
	ASSERT_NE(nobody, nullptr);
	const Traces before = traces_before();
	Running running(
		{icepath_program(), "run", "-t", "pipe", "-s", "64", "--patterns", "pingpong", "-d", "30", "-o", "out"},
		folder.path(), {{"SUDO_UID", std::to_string(nobody->pw_uid)}});
	await_round(running, "round 3");
	const auto helpers = children_named(running.pid(), "icepath-helper");
	ASSERT_EQ(helpers.size(), 1u);
	kill_process(helpers[0], SIGSTOP);
	const Outcome outcome = running.wait(60s);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_NE(outcome.err.find("icepath-helper (process " + std::to_string(helpers[0]) + ") didn't end by itself"),
			  std::string::npos)
		<< outcome.err;
	EXPECT_NE(outcome.out.find("the root helper died: no probes from here on"), std::string::npos) << outcome.out;
	EXPECT_EQ(traces_after(before), before);
	EXPECT_GT(read_json(folder.path() / "out/run.json")["cells"][0]["messages"]["probed"].get<uint64_t>(), 0u);
}

TEST_F(Stalled, WhereStderrLeadsDoesNotMatter)
{
	const std::string icepath = icepath_program() + " run -t pipe -s 64 --patterns pingpong -d 4 -o ";
	for (const char *redirection : {"full 2>/dev/full", "closed 2>&-", "none 2>&- 0<&-"}) {
		const Outcome outcome = run({"/bin/sh", "-c", "exec " + icepath + redirection}, folder.path());
		EXPECT_EQ(outcome.exit_code, 0) << redirection << outcome.out;
		EXPECT_NE(outcome.out.find("pipe"), std::string::npos) << redirection;
	}
}

TEST_F(Stalled, WhatADiskHeldIsKeptAndCanBeReported)
{
	// A disk of its own, which goes with its mount namespace.
	const std::string small_disk = "mkdir disk && mount -t tmpfs -o size=400k icepath-test disk && ";
	const std::string measure =
		icepath_program() + " run -q -t pipe,mqueue -s 64 --patterns pingpong -d 12 -o disk/out; code=$?; ";
	const std::string report = icepath_program() + " report disk/out || exit 99; exit $code";
	const Outcome outcome =
		run({"/usr/bin/unshare", "--mount", "/bin/sh", "-c", small_disk + measure + report}, folder.path());
	EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
	EXPECT_NE(outcome.err.find("what was measured before is kept"), std::string::npos) << outcome.err;
	EXPECT_NE(outcome.out.find("isn't finished"), std::string::npos) << outcome.out;
}

// Addresses of the kernel have bits 47 to 63 set on x86-64 and arm64. So has a negative errno, which tells nothing.
TEST_F(Stalled, NoRecordHoldsAnAddressOfTheKernel)
{
	const Outcome outcome =
		run({icepath_program(), "run", "-q", "-t", "uds-stream,uds-dgram,tcp,udp,pipe,mqueue,sysv-mq,eventfd,boost-mq",
			 "-s", "64", "--patterns", "pingpong,oneway", "-d", "9", "-o", "out"},
			folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	constexpr uint64_t kKernel = 0xffff800000000000, kLastErrno = 4095;
	rundir::Reader reader(folder.path() / "out");
	size_t records = 0, addresses = 0;
	while (const auto read = reader.next())
		for (const model::SlotCapture &slot : read->window->slots)
			for (const icepath_record &record : slot.records) {
				records++;
				for (const uint64_t word : record.words)
					addresses += (word & kKernel) == kKernel && word < -kLastErrno ? 1 : 0;
			}
	EXPECT_GT(records, 1000u);
	EXPECT_EQ(addresses, 0u);
}

} // namespace
} // namespace icepath::end_to_end
