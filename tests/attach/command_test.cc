// SPDX-License-Identifier: Apache-2.0
// A program that icepath starts, and programs by name.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "profiler/attach/command.h"
#include "profiler/failure.h"
#include "profiler/rundir/container.h"
#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

class Commands : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

// From its first call on: what dash writes into a pipe that cat reads.
TEST_F(Commands, AreWatchedFromTheirBeginning)
{
	privilege::Identity user = privilege::invoking_user();
	user.uid = user.gid = 65534;
	user.groups = {65534};
	user.stays_root = false;
	const std::string told =
		fmt::format("{}/attach-command-{}", std::filesystem::temp_directory_path().string(), getpid());
	std::ofstream(told).close();
	std::filesystem::permissions(told, std::filesystem::perms::all);
	Command command({"sh", "-c", "(cat /proc/self/status; id -u) >" + told + "; for i in 1 2 3; do echo; done | cat"},
					user);
	bool has_started = false;
	const Watched watched = watch_programs({command.pid()}, 30, [&] {
		command.start();
		has_started = true;
	});
	command.reap();
	ASSERT_TRUE(has_started);
	EXPECT_GE(std::ranges::count_if(watched.calls,
									[](const icepath_record &record) {
										return record.call.kind == ICEPATH_CALL_GIVE &&
											   record.call.object_kind == ICEPATH_OBJECT_PIPE;
									}),
			  3);
	std::ifstream file(told);
	const std::string text{std::istreambuf_iterator<char>(file), {}};
	EXPECT_NE(text.find("NoNewPrivs:\t1"), std::string::npos) << text;
	EXPECT_NE(text.find("CapPrm:\t0000000000000000"), std::string::npos) << text;
	EXPECT_NE(text.find("\n65534\n"), std::string::npos) << text;
	std::filesystem::remove(told);
}

// A shell becomes the program that is watched.
TEST_F(Commands, HaveTheNameOfWhatTheyExecute)
{
	Command command({"sh", "-c", "sleep 0.2; exec cat /dev/null"}, privilege::invoking_user());
	const Watched watched = watch_programs({command.pid()}, 30, [&] { command.start(); });
	command.reap();
	std::map<uint64_t, std::string> names;
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots)
			for (const icepath_record &record : slot.records)
				if (record.type == ICEPATH_RECORD_THREAD && record.tid == static_cast<uint32_t>(command.pid()))
					names[record.end_ns] = record.thread.comm;
	std::vector<std::string> in_order;
	for (const auto &[at, name] : names)
		if (in_order.empty() || in_order.back() != name)
			in_order.push_back(name);
	ASSERT_GE(in_order.size(), 2u);
	EXPECT_EQ(std::vector(in_order.end() - 2, in_order.end()), (std::vector<std::string>{"sh", "cat"}));
}

TEST_F(Commands, NamesFindTheFirstOfAFamily)
{
	const std::string name = fmt::format("at{}", getpid());
	Program program([&](Shared &shared) {
		prctl(PR_SET_NAME, name.c_str());
		if (fork() == 0) {
			shared.is_ready = 1;
			pause();
		}
		pause();
	});
	program.await_ready();
	EXPECT_EQ(processes_named(name.substr(0, 4) + "*" + name.substr(4)), std::vector<pid_t>{program.pid()});
	EXPECT_THROW(processes_named("no process has this name"), Failure);
}

} // namespace
} // namespace icepath::attach
