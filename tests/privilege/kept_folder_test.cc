// SPDX-License-Identifier: Apache-2.0
// Files for a process that gave root up: made and named as root allows, and nothing else.
#include "profiler/privilege/kept_folder.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "profiler/failure.h"
#include "profiler/privilege/rights.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

class Kept : public testing::Test {
protected:
	Kept()
	{
		char name[] = "/tmp/icepath-kept-XXXXXX";
		root = mkdtemp(name);
	}
	~Kept() override { fs::remove_all(root); }

	std::string text_of(const fs::path &path) const
	{
		std::ostringstream text;
		text << std::ifstream(path).rdbuf();
		return text.str();
	}
	size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(root / "out"), {})); }

	fs::path root;
};

TEST_F(Kept, AFileHasItsNameOnceItIsWhole)
{
	KeptFolder folder(root / "out");
	const Fd file = folder.begin("messages.csv");
	ASSERT_EQ(write(file.get(), "x", 1), 1);
	EXPECT_FALSE(fs::exists(root / "out/messages.csv"));
	folder.keep("messages.csv");
	EXPECT_EQ(text_of(root / "out/messages.csv"), "x");
	EXPECT_EQ(files(), 1u);
}

// The one child of this process.
fs::path its_process()
{
	pid_t child = 0;
	std::ifstream("/proc/thread-self/children") >> child;
	return fs::path("/proc") / std::to_string(child);
}

TEST_F(Kept, TheProcessHasNothingOfItsSurroundings)
{
	const KeptFolder folder(root / "out");
	const fs::path process = its_process();
	ASSERT_EQ(text_of(process / "comm"), "icepath-files\n");
	for (int tries = 0; tries < 1000 && fs::read_symlink(process / "cwd") != "/"; tries++)
		usleep(1000);
	EXPECT_EQ(fs::read_symlink(process / "cwd"), "/");
}

TEST(KeepAsRoot, LeavesTheSurroundings)
{
	const rlimit cores{4096, 4096};
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const pid_t child = fork();
	if (child == 0) {
		setenv("OF_THE_CALLER", "1", 1);
		setrlimit(RLIMIT_CORE, &cores);
		keep_as_root({CAP_DAC_OVERRIDE});
		rlimit now{};
		getrlimit(RLIMIT_CORE, &now);
		const std::array<bool, 5> left = {getenv("OF_THE_CALLER") == nullptr, now.rlim_max == 0,
										  prctl(PR_GET_DUMPABLE) == 0, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
										  fs::current_path() == "/"};
		_exit(static_cast<int>(std::ranges::count(left, true)));
	}
	int status = 0;
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 5) << "environment, core file, dumpable, no_new_privs, folder";
}

TEST_F(Kept, WhatIsDroppedOrLeftIsRemoved)
{
	{
		KeptFolder folder(root / "out");
		const Fd dropped = folder.begin("a.csv"), left = folder.begin("b.csv");
		EXPECT_EQ(files(), 2u);
		folder.drop("a.csv");
		EXPECT_EQ(files(), 1u);
	}
	EXPECT_EQ(files(), 0u);
}

TEST_F(Kept, ALinkIsReplacedAndNotFollowed)
{
	std::ofstream(root / "victim") << "mine";
	fs::create_directory(root / "out");
	fs::create_symlink(root / "victim", root / "out/messages.csv");
	KeptFolder folder(root / "out");
	const Fd file = folder.begin("messages.csv");
	folder.keep("messages.csv");
	EXPECT_EQ(text_of(root / "victim"), "mine");
	EXPECT_FALSE(fs::is_symlink(root / "out/messages.csv"));
}

TEST_F(Kept, OtherNamesAreRefused)
{
	KeptFolder folder(root / "out");
	for (const std::string &name :
		 {std::string("../a.csv"), std::string("/etc/a.csv"), std::string("a/b.csv"), std::string(".a.csv"),
		  std::string(".csv"), std::string("passwd"), std::string("a.csv\n"), std::string("a.so"), std::string(""),
		  std::string(240, 'a') + ".csv", std::string(300, 'a') + ".csv"})
		EXPECT_THROW(folder.begin(name), Failure) << name;
	EXPECT_THROW(folder.keep("never-begun.csv"), Failure);
	const Fd once = folder.begin("a.csv");
	EXPECT_THROW(folder.begin("a.csv"), Failure);
	EXPECT_EQ(files(), 1u);
}

TEST_F(Kept, TheFileThatRootNamedMayHaveAnyNameAndIsTheOnlyOne)
{
	KeptFolder folder(root / "out", "my run, 2 µs.svg");
	const Fd file = folder.begin("my run, 2 µs.svg");
	folder.keep("my run, 2 µs.svg");
	EXPECT_TRUE(fs::exists(root / "out/my run, 2 µs.svg"));
	EXPECT_THROW(folder.begin("latency.svg"), Failure);
	EXPECT_EQ(files(), 1u);
	KeptFolder above(root / "out", "../a.svg");
	EXPECT_THROW(above.begin("../a.svg"), Failure);
}

TEST_F(Kept, AFolderThatCannotBeIsTold)
{
	std::ofstream(root / "out") << "no folder";
	KeptFolder folder(root / "out");
	try {
		folder.begin("a.csv");
		FAIL() << "nothing was thrown";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("out/a.csv can't be written: Not a directory"), std::string::npos)
			<< failure.what();
	}
}

} // namespace
} // namespace icepath::privilege
