// SPDX-License-Identifier: Apache-2.0
// Cells of one run don't disturb each other: while blocks of one are measured, no thread of another one runs on the
// run's CPUs, even if a library keeps a thread busy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "profiler/rundir/container.h"
#include "tests/end_to_end/command.h"
#include "tests/end_to_end/plugin_folder.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Seen {
	std::set<uint32_t> house; // housekeeping threads of all openings
	size_t windows = 0, windows_of_busy = 0; // probed ones
	uint64_t ran = 0, ran_ns = 0; // of `house`, within windows of cells other than theirs
};

bool is_called(const char (&comm)[16], const char *name) { return std::strncmp(comm, name, sizeof(comm)) == 0; }

// The busy cell's threads are followed in its own windows, where THREAD records name them; in others they are tasks
// like any other.
Seen seen_in(const fs::path &run)
{
	rundir::Reader reader(run.string());
	const model::Head head = reader.head();
	Seen seen;
	while (const auto captured = reader.next()) {
		const model::Window &window = *captured->window;
		if (!window.probed)
			continue;
		const bool of_busy = head.cells.at(captured->blocks.front().cell).target == "busy";
		(of_busy ? seen.windows_of_busy : seen.windows)++;
		for (const model::SlotCapture &slot : window.slots)
			for (const icepath_record &record : slot.records) {
				if (record.type == ICEPATH_RECORD_THREAD && is_called(record.thread.comm, "housekeeping"))
					seen.house.insert(record.tid);
				if (of_busy || record.type != ICEPATH_RECORD_FOREIGN_RUN || !is_called(record.run.comm, "housekeeping"))
					continue;
				seen.ran++;
				seen.ran_ns += record.end_ns - std::max(record.run.in_ns, window.begin.monotonic_ns);
			}
	}
	return seen;
}

TEST(Alone, NoThreadOfAnotherCellRunsInACellsBlocks)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const PluginFolder busy(test::in_build("tests/end_to_end/icepath-busy.so"));
	const Outcome outcome = run({icepath_program(), "run", "-t", "uds-stream,pipe,busy", "--patterns", "pingpong", "-s",
								 "64", "-d", "5", "-o", "out"},
								folder.path(), 60s, busy.environment());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const Seen seen = seen_in(folder.path() / "out");
	EXPECT_GE(seen.house.size(), 2u) << "one for each side, which shows that records name them";
	EXPECT_GT(seen.windows_of_busy, 0u);
	EXPECT_GT(seen.windows, 3u);
	EXPECT_EQ(seen.ran, 0u) << "for " << seen.ran_ns << " ns in " << seen.windows << " windows of other cells";
}

// Sparse cells share a window, in which each waits for its turn: what a neighbour takes there is told as a neighbour's.
TEST(Alone, WhatSharesAWindowIsToldAsAnotherCellOfTheRun)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const PluginFolder busy(test::in_build("tests/end_to_end/icepath-busy.so"));
	const Outcome outcome = run({icepath_program(), "run", "-t", "uds-stream,busy", "--patterns", "sparse",
								 "--sparse-period", "50ms", "-s", "64", "-d", "12", "-o", "out"},
								folder.path(), 60s, busy.environment());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json json = read_json(folder.path() / "out/run.json");
	bool is_named = false;
	for (const auto &cell : json["cells"])
		if (cell["target"] == "uds-stream")
			for (const auto &culprit : cell["culprits"])
				is_named = is_named || culprit["name"].get<std::string>().find("busy") != std::string::npos;
	EXPECT_TRUE(is_named) << json["cells"].dump();
	const std::string notices = json["notices"].dump();
	EXPECT_NE(notices.find("another cell of this run"), std::string::npos) << notices;
}

// "T" of a process that a signal stopped, as in proc(5); empty: it has ended.
std::string state_of(pid_t process)
{
	const std::string line = first_line(fs::path("/proc") / std::to_string(process) / "stat");
	const size_t end = line.rfind(") ");
	return end == std::string::npos ? "" : line.substr(end + 2, 1);
}

// What stands still handles no signal and sees no closed socket: the kernel ends it with icepath.
TEST(Alone, WhatStandsStillEndsWithAKilledIcepath)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Traces before = traces_before();
	{
		const Folder folder;
		const PluginFolder busy(test::in_build("tests/end_to_end/icepath-busy.so"));
		Running icepath({icepath_program(), "run", "-t", "uds-stream,pipe,busy", "--patterns", "pingpong", "-s", "64",
						 "-d", "30", "-o", "out"},
						folder.path(), busy.environment());
		std::vector<pid_t> still;
		for (const auto until = std::chrono::steady_clock::now() + 25s;
			 still.size() < 4 && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms)) {
			still.clear();
			for (const pid_t child : children_of(icepath.pid()))
				if (state_of(child) == "T")
					still.push_back(child);
		}
		ASSERT_GE(still.size(), 4u) << "both sides of two cells: " << icepath.err_so_far();
		kill_process(icepath.pid(), SIGKILL);
		EXPECT_EQ(icepath.wait(60s).exit_code, 128 + SIGKILL);
		for (const pid_t process : still) {
			for (const auto until = std::chrono::steady_clock::now() + 10s;
				 state_of(process) == "T" && std::chrono::steady_clock::now() < until;)
				std::this_thread::sleep_for(10ms);
			EXPECT_NE(state_of(process), "T") << process;
		}
	}
	EXPECT_EQ(traces_after(before), before);
}

} // namespace
} // namespace icepath::end_to_end
