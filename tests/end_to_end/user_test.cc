// SPDX-License-Identifier: Apache-2.0
// With sudo, from an ordinary user: the user runs everything but the helper, and owns the files.
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

uid_t uid_of(pid_t pid)
{
	std::ifstream file("/proc/" + std::to_string(pid) + "/status");
	for (std::string line; std::getline(file, line);)
		if (line.starts_with("Uid:")) {
			std::istringstream fields(line.substr(4));
			uid_t real = 0, effective = 0;
			fields >> real >> effective;
			return effective;
		}
	return static_cast<uid_t>(-1);
}

TEST(InvokingUser, OwnsTheFilesAndRunsEverythingButTheHelper)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to play sudo";
	const passwd *nobody = getpwnam("nobody");
	ASSERT_NE(nobody, nullptr);
	const Folder folder;
	Running running(
		{icepath_program(), "run", "-t", "uds-stream", "-s", "64", "--patterns", "pingpong", "-d", "3", "-o", "out"},
		folder.path(), {{"SUDO_UID", std::to_string(nobody->pw_uid)}, {"SUDO_GID", std::to_string(nobody->pw_gid)}});
	for (int i = 0; i < 1000 && running.err_so_far().find("round 2") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	EXPECT_EQ(uid_of(running.pid()), nobody->pw_uid);
	const auto helpers = children_named(running.pid(), "icepath-helper");
	ASSERT_EQ(helpers.size(), 1u) << running.err_so_far();
	EXPECT_GT(uid_of(helpers[0]), 1879048192u) << "a user of its own: profiler/privilege/rights.h";
	const auto workers = children_named(running.pid(), "initiator");
	ASSERT_EQ(workers.size(), 1u);
	EXPECT_EQ(uid_of(workers[0]), nobody->pw_uid);
	const Outcome outcome = running.wait(30s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_EQ(outcome.out.find("started by root itself"), std::string::npos);
	for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path() / "out")) {
		struct stat status{};
		ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
		EXPECT_EQ(status.st_uid, nobody->pw_uid) << entry.path();
	}
}

// Records have the names of all tasks that had a worker's CPU, and a plug-in may read everything that its process has.
TEST(InvokingUser, WorkersHaveNoRecords)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running running(
		{icepath_program(), "run", "-t", "pipe", "-s", "64", "--patterns", "pingpong", "-d", "3", "-o", "out"},
		folder.path());
	for (int i = 0; i < 1000 && running.err_so_far().find("round 2") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	size_t maps = 0;
	for (const char *side : {"initiator", "responder"})
		for (const pid_t worker : children_named(running.pid(), side))
			for (const auto &entry :
				 std::filesystem::directory_iterator("/proc/" + std::to_string(worker) + "/fdinfo")) {
				std::ifstream file(entry.path());
				for (std::string line; std::getline(file, line);)
					if (line.starts_with("value_size:")) { // in a BPF map
						EXPECT_EQ(line, "value_size:\t64") << "more than how far a slot is filled";
						maps++;
					}
			}
	EXPECT_EQ(maps, 2u) << "each worker has one";
	EXPECT_EQ(running.wait(30s).exit_code, 0);
}

TEST(InvokingUser, PlainRootStaysRootAndSaysSo)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({"env", "-u", "SUDO_UID", "-u", "PKEXEC_UID", icepath_program(), "run", "-t", "pipe",
								 "-s", "64", "--patterns", "pingpong", "-d", "2", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_EQ(outcome.out.find("started by root itself"), std::string::npos) << "every such run would say so";
	const Outcome all = run({icepath_program(), "report", "-v", "out"}, folder.path());
	EXPECT_NE(all.out.find("started by root itself"), std::string::npos) << all.out;
}

} // namespace
} // namespace icepath::end_to_end
