// SPDX-License-Identifier: Apache-2.0
// Somebody changes the machine during a run: a CPU goes offline or to another partition, the clock source changes, the
// machine sleeps. Takes four CPUs, of which others need none: tests/vm runs it, `make test` doesn't.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string kOnline = "/sys/devices/system/cpu/cpu3/online";
const std::string kClockSources = "/sys/devices/system/clocksource/clocksource0/";
const std::string kThief = "/sys/fs/cgroup/thief";

void write(const std::string &path, const std::string &text)
{
	std::ofstream file(path);
	file << text << std::flush;
	EXPECT_TRUE(file.good()) << path << " refuses " << text;
}

// Reports wrap their lines.
std::string said(const Outcome &outcome)
{
	return std::regex_replace(outcome.err + " " + outcome.out, std::regex("\\s+"), " ");
}

class ChangedMachine : public testing::Test {
protected:
	void SetUp() override
	{
		ASSERT_EQ(geteuid(), 0u);
		ASSERT_GE(std::thread::hardware_concurrency(), 4u);
		before = traces_before();
	}

	// Runs on CPUs 2 and 3, and calls `change` in its second round.
	template <typename Change> Outcome run_with(Change change, const Words &options = {})
	{
		Words words = {icepath_program(), "run", "-t", "pipe",   "-s",  "64", "--patterns",
					   "pingpong",        "-d",  "30", "--cpus", "2,3", "-o", "out"};
		words.insert(words.end(), options.begin(), options.end());
		Running icepath(words, folder.path());
		for (int i = 0; i < 12000 && icepath.err_so_far().find("round 2") == std::string::npos; i++)
			std::this_thread::sleep_for(10ms);
		EXPECT_NE(icepath.err_so_far().find("round 2"), std::string::npos) << icepath.err_so_far();
		change(icepath.pid());
		return icepath.wait(300s);
	}

	void expect_kept_until_then(const Outcome &outcome, const std::string &sentence)
	{
		EXPECT_EQ(outcome.exit_code, 3) << said(outcome);
		EXPECT_NE(said(outcome).find(sentence), std::string::npos) << said(outcome);
		EXPECT_NE(said(outcome).find("; what was measured before is kept"), std::string::npos) << said(outcome);
		EXPECT_EQ(measured()["icepath"]["interrupted"], true);
	}

	nlohmann::json measured() const { return read_json(folder.path() / "out/run.json"); }

	const Folder folder;
	Traces before;
};

TEST_F(ChangedMachine, ACpuGoesOffline)
{
	for (const char *level : {"soft", "full"}) {
		SCOPED_TRACE(level);
		fs::remove_all(folder.path() / "out");
		const Outcome outcome = run_with([](pid_t) { write(kOnline, "0"); }, {"--isolate", level});
		expect_kept_until_then(outcome, "is no longer pinned to CPU 3: the CPU is offline");
		write(kOnline, "1");
		EXPECT_EQ(traces_after(before), before);
	}
}

TEST_F(ChangedMachine, AnotherPartitionTakesACpu)
{
	write("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset");
	fs::create_directory(kThief);
	const Outcome outcome = run_with([](pid_t) {
		write(kThief + "/cpuset.cpus", "3");
		write(kThief + "/cpuset.cpus.partition", "root");
	});
	fs::remove(kThief);
	write("/sys/fs/cgroup/cgroup.subtree_control", "-cpuset");
	expect_kept_until_then(outcome, "is no longer pinned to CPU 3: its cpuset lacks the CPU, or somebody moved it");
	EXPECT_EQ(traces_after(before), before);
}

TEST_F(ChangedMachine, SomebodyEndsThePartition)
{
	const Outcome outcome =
		run_with([](pid_t) { write("/sys/fs/cgroup/icepath/cpuset.cpus.partition", "member"); }, {"--isolate", "full"});
	expect_kept_until_then(outcome, "isolation lost: ");
	EXPECT_EQ(traces_after(before), before);
}

TEST_F(ChangedMachine, TheClockSourceChanges)
{
	const std::string old = first_line(kClockSources + "current_clocksource");
	std::string other;
	for (const char *one : {"hpet", "acpi_pm"})
		if (one != old && first_line(kClockSources + "available_clocksource").find(one) != std::string::npos)
			other = one;
	ASSERT_FALSE(other.empty()) << first_line(kClockSources + "available_clocksource");
	const Outcome outcome = run_with([&](pid_t) { write(kClockSources + "current_clocksource", other); });
	write(kClockSources + "current_clocksource", old);
	EXPECT_EQ(outcome.exit_code, 0) << said(outcome);
	EXPECT_NE(said(outcome).find("the clock source changed from " + old + " to " + other), std::string::npos)
		<< said(outcome);
	EXPECT_EQ(traces_after(before), before);
}

TEST_F(ChangedMachine, TheMachineSleeps)
{
	const Outcome outcome = run_with([](pid_t) {
		write("/sys/class/rtc/rtc0/wakealarm", "+10");
		write("/sys/power/mem_sleep", "deep");
		write("/sys/power/state", "mem");
	});
	EXPECT_EQ(outcome.exit_code, 0) << said(outcome);
	EXPECT_TRUE(std::regex_search(said(outcome),
								  std::regex("the machine slept for [0-9.]+ s; the blocks of that time are left out")))
		<< said(outcome);
	EXPECT_EQ(traces_after(before), before);
}

} // namespace
} // namespace icepath::end_to_end
