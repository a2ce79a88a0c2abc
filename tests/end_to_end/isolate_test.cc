// SPDX-License-Identifier: Apache-2.0
// The effect of `--isolate` on a machine during a run, seen from outside: the kernel's reported limit for idle states,
// and the processes that have that file open.
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <set>
#include <thread>

#include "cpuset/kept_awake.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string kFile = "/dev/cpu_dma_latency";

int32_t allowed_us()
{
	int32_t us = -1;
	std::ifstream(kFile, std::ios::binary).read(reinterpret_cast<char *>(&us), sizeof us);
	return us;
}

bool has_it_open(pid_t pid)
{
	std::error_code gone;
	for (const auto &fd : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone))
		if (std::filesystem::read_symlink(fd.path(), gone) == kFile)
			return true;
	return false;
}

// During a run, from the first look at its workers on.
struct Seen {
	std::set<int32_t> allowed_us;
	bool icepath_has_it = false, others_have_it = false, workers = false;
};

class Isolate : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (!std::filesystem::exists(kFile))
			GTEST_SKIP() << "this kernel has no cpuidle";
		before_us = allowed_us();
		ASSERT_NE(before_us, 0) << "somebody else keeps this machine's CPUs awake";
		const cpuset::KeptAwake kept;
		works = kept.works();
		why = kept.step().found;
	}

	Words run_of(const Words &options) const
	{
		Words words = {icepath_program(), "run", "-t", "uds-stream", "-s", "64", "-o", "out"};
		words.insert(words.end(), options.begin(), options.end());
		return words;
	}

	// Looks as often as possible, until the run has ended.
	Seen watch(Running &running, std::chrono::seconds limit)
	{
		Seen seen;
		std::thread ended([&] {
			outcome = running.wait(limit);
			is_over = true;
		});
		while (!is_over) {
			std::vector<pid_t> workers;
			for (const char *name : {"initiator", "responder", "sender", "receiver"})
				for (const pid_t pid : children_named(running.pid(), name))
					workers.push_back(pid);
			const int32_t allowed = allowed_us();
			if (!workers.empty()) {
				seen.workers = true;
				seen.allowed_us.insert(allowed);
				seen.icepath_has_it = seen.icepath_has_it || has_it_open(running.pid());
			}
			const auto helpers = children_named(running.pid(), "icepath-helper");
			workers.insert(workers.end(), helpers.begin(), helpers.end());
			seen.others_have_it = seen.others_have_it || std::ranges::any_of(workers, has_it_open);
			std::this_thread::sleep_for(2ms);
		}
		ended.join();
		return seen;
	}

	nlohmann::json measured() const { return read_json(folder.path() / "out/run.json"); }

	static nlohmann::json step(const nlohmann::json &run, const std::string &name)
	{
		for (const auto &one : run["isolation"]["steps"])
			if (one["name"] == name)
				return one;
		return nullptr;
	}

	const Folder folder;
	int32_t before_us = 0;
	bool works = false; // whether this kernel keeps CPUs awake on request
	std::string why;
	Outcome outcome;
	std::atomic<bool> is_over{false};
};

TEST_F(Isolate, SoftKeepsCpusAwakeInBlocksAndNotBetweenThem)
{
	Running running(run_of({"--patterns", "pingpong", "-d", "3"}), folder.path());
	const Seen seen = watch(running, 60s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	ASSERT_TRUE(seen.workers);
	EXPECT_FALSE(seen.others_have_it) << "workers and the helper have no part in it";
	EXPECT_EQ(allowed_us(), before_us);
	const nlohmann::json run = measured();
	EXPECT_EQ(run["isolation"]["level"], "soft");
	EXPECT_EQ(run["cells"][0]["idle_states"], works ? "held" : "own");
	EXPECT_EQ(step(run, "idle_states")["state"] == "done", works) << run["isolation"].dump();
	EXPECT_EQ(step(run, "idle_states")["found"], why);
	EXPECT_EQ(seen.allowed_us, works ? (std::set<int32_t>{0, before_us}) : std::set<int32_t>{before_us});
	EXPECT_EQ(run["machine_state"]["wake_ns"][0]["held"].is_null(), !works);
	EXPECT_NE(outcome.out.find("isolation soft"), std::string::npos) << outcome.out;
	const Outcome all = end_to_end::run({icepath_program(), "report", "-v", "out"}, folder.path());
	EXPECT_NE(all.out.find("isolation soft: pinning done"), std::string::npos) << all.out;
}

TEST_F(Isolate, SparseCellsKeepTheMachinesOwnIdleStates)
{
	Running running(run_of({"--patterns", "sparse", "--sparse-period", "50ms", "-d", "5"}), folder.path());
	const Seen seen = watch(running, 60s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	ASSERT_TRUE(seen.workers);
	EXPECT_EQ(seen.allowed_us, std::set<int32_t>{before_us});
	EXPECT_EQ(measured()["cells"][0]["idle_states"], "own");
}

TEST_F(Isolate, NoneAndIdleStatesNeverTouchThem)
{
	for (const Words &options : {Words{"--isolate", "none"}, Words{"--idle-states"}}) {
		SCOPED_TRACE(options[0]);
		Words words = {"--patterns", "pingpong", "-d", "2"};
		words.insert(words.end(), options.begin(), options.end());
		is_over = false;
		std::filesystem::remove_all(folder.path() / "out");
		Running running(run_of(words), folder.path());
		const Seen seen = watch(running, 60s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		ASSERT_TRUE(seen.workers);
		EXPECT_EQ(seen.allowed_us, std::set<int32_t>{before_us});
		EXPECT_FALSE(seen.icepath_has_it);
		const nlohmann::json run = measured();
		EXPECT_EQ(run["cells"][0]["idle_states"], "own");
		if (options[0] == "--isolate")
			EXPECT_EQ(run["isolation"]["steps"].size(), 1u) << "pinning";
		else
			EXPECT_EQ(step(run, "idle_states")["state"], "left");
	}
}

// With sudo: what was opened as root is written as the user.
TEST_F(Isolate, IsDoneWithoutRootAndGoesWithAKilledRun)
{
	const passwd *nobody = getpwnam("nobody");
	ASSERT_NE(nobody, nullptr);
	Running running(run_of({"--patterns", "throughput", "-d", "30"}), folder.path(),
					{{"SUDO_UID", std::to_string(nobody->pw_uid)}, {"SUDO_GID", std::to_string(nobody->pw_gid)}});
	bool held = false;
	for (int i = 0; i < 15000 && !held; i++) {
		held = !children_named(running.pid(), "sender").empty() && allowed_us() == 0;
		std::this_thread::sleep_for(1ms);
	}
	EXPECT_EQ(held, works) << running.err_so_far();
	running.signal(SIGKILL);
	running.wait(10s);
	for (int i = 0; i < 3000 && allowed_us() != before_us; i++) // a worker being started has it open until it runs
		std::this_thread::sleep_for(1ms);
	EXPECT_EQ(allowed_us(), before_us);
}

} // namespace
} // namespace icepath::end_to_end
