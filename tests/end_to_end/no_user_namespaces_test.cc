// SPDX-License-Identifier: Apache-2.0
// Where users can't have user namespaces, icepath-space makes those of middleware. Plug-in folders mustn't lead it out
// of them: of the user's three, one is a link, and another a link below it that leads to /etc once that is mounted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "tests/end_to_end/command.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string text_of(pid_t pid, const std::string &name)
{
	std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
	return {std::istreambuf_iterator<char>(file), {}};
}

// The user's files that cover /etc in the process's view.
std::string over_etc(pid_t pid)
{
	std::istringstream mounts(text_of(pid, "mountinfo"));
	std::string found;
	for (std::string line; std::getline(mounts, line);)
		if (line.find("/of-user/") != std::string::npos && line.find(" /etc ") != std::string::npos)
			found += line + "\n";
	return found;
}

constexpr uid_t kNobody = 65534;

// A folder for /tmp with the user's three folders.
void make_folders(const fs::path &tmp)
{
	fs::create_directories(tmp / "of-user/q/r/s");
	fs::create_directories(tmp / "of-user/q/etc");
	std::ofstream(tmp / "of-user/q/etc/nsswitch.conf") << "group: theirs\n";
	fs::create_directory_symlink("../../etc", tmp / "of-user/q/r/s/link");
	fs::create_directory_symlink("/tmp/of-user/q/r/s", tmp / "plugins");
	fs::create_directory(tmp / "results");
	EXPECT_EQ(chown((tmp / "results").c_str(), kNobody, kNobody), 0);
	fs::permissions(tmp, fs::perms::all | fs::perms::sticky_bit);
}

TEST(WithoutUserNamespaces, FoldersOfTheUsersLeadRootNowhere)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to make such a root";
	const Folder folder;
	make_folders(folder.path());
	const fs::path build = fs::path(icepath_program()).parent_path().parent_path();
	const Traces before = traces_before();
	Running running({"unshare", "-m", test::in_source("tests/end_to_end/without_user_namespaces.sh"),
					 folder.path().string(), build.string(), icepath_program(), "run", "-q", "-t", "zeromq/ipc", "-s",
					 "64", "--patterns", "pingpong", "-d", "3", "-o", "/tmp/results/run"},
					"/",
					{{"SUDO_UID", std::to_string(kNobody)},
					 {"ICEPATH_PLUGIN_PATH", (build / "lib/icepath").string() + ":/tmp/plugins:/tmp/plugins/link"}});
	std::set<pid_t> looked_at;
	for (int i = 0; i < 600 && looked_at.size() < 2; i++) {
		std::this_thread::sleep_for(10ms);
		for (const pid_t worker : children_named(running.pid(), "initiator"))
			for (const pid_t pid : {worker, children_named(running.pid(), "icepath-space").at(0)}) {
				looked_at.insert(pid);
				EXPECT_EQ(over_etc(pid), "");
				const std::string status = text_of(pid, "status");
				EXPECT_NE(status.find("Uid:\t65534\t65534\t65534\t65534"), std::string::npos) << status;
				EXPECT_NE(status.find("CapPrm:\t0000000000000000"), std::string::npos) << status;
			}
	}
	EXPECT_EQ(looked_at.size(), 2u) << "there was no worker, or no process that keeps the space";
	const Outcome outcome = running.wait(60s);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_NE(outcome.out.find("zeromq/ipc"), std::string::npos) << outcome.out;
	EXPECT_EQ(traces_after(before), before);
}

} // namespace
} // namespace icepath::end_to_end
