// SPDX-License-Identifier: Apache-2.0
// What tests run as root is what ships, wherever it was built.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/end_to_end/command.h"
#include "tests/end_to_end/installed.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;

const fs::path kBuilt = test::in_build("bin/icepath");

class InstalledCopy : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root, whose it is";
	}
};

TEST_F(InstalledCopy, IsRootsAloneAndOpenToAll)
{
	const mode_t before = umask(0);
	const Installed installed(kBuilt.parent_path());
	umask(before);
	std::vector<fs::path> all = {installed.folder(), installed.program("as_installed")};
	for (const auto &entry : fs::recursive_directory_iterator(installed.folder()))
		all.push_back(entry.path());
	EXPECT_GT(all.size(), 10u) << "programs and plug-ins";
	for (const fs::path &path : all) {
		struct stat status{};
		ASSERT_EQ(lstat(path.c_str(), &status), 0);
		EXPECT_EQ(status.st_uid, 0u) << path;
		EXPECT_EQ(status.st_mode & 07777, 0755u) << path;
	}
}

TEST_F(InstalledCopy, HasEachPluginOfTheBuild)
{
	const Installed installed(kBuilt.parent_path());
	const fs::path build = kBuilt.parent_path().parent_path();
	for (const auto &entry : fs::recursive_directory_iterator(build / "lib"))
		EXPECT_TRUE(fs::exists(installed.folder() / fs::relative(entry.path(), build))) << entry.path();
}

TEST_F(InstalledCopy, IsRunByRootAndByOtherUsersAndRemoved)
{
	const Folder folder;
	fs::path program;
	{
		const Installed installed(kBuilt.parent_path());
		program = installed.program("icepath");
		for (const std::vector<std::string> &as : {std::vector<std::string>{"env", "-u", "SUDO_UID"},
												   {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}}) {
			std::vector<std::string> words = as;
			words.insert(words.end(), {program, "list"});
			const Outcome outcome = run(words, folder.path());
			EXPECT_EQ(outcome.exit_code, 0) << as[0] << ": " << outcome.err;
			EXPECT_NE(outcome.out.find("\npipe "), std::string::npos) << as[0] << ": " << outcome.out;
		}
	}
	EXPECT_FALSE(fs::exists(program.parent_path().parent_path()));
}

// Whose build it is, and who may enter it, differs from home to home.
TEST_F(InstalledCopy, IsMadeWhereTheBuildIsNotAsInstalled)
{
	const Folder folder;
	const fs::path bin = folder.path() / "home/build/bin";
	fs::create_directories(bin);
	fs::copy(kBuilt.parent_path().parent_path() / "lib", folder.path() / "home/build/lib", fs::copy_options::recursive);
	for (const char *program : {"icepath", "icepath-helper", "icepath-worker"})
		fs::copy_file(kBuilt.parent_path() / program, bin / program);
	const fs::path built = bin / "icepath";
	ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
	ASSERT_EQ(installed_program(built), built);
	for (const fs::path &home : {folder.path(), folder.path() / "home", bin}) {
		for (const mode_t mode : {0700, 0777, 0775}) {
			ASSERT_EQ(chmod(home.c_str(), mode), 0);
			EXPECT_NE(installed_program(built), built) << home << " " << mode;
		}
		ASSERT_EQ(chmod(home.c_str(), 0755), 0);
		ASSERT_EQ(chown(home.c_str(), 65534, 65534), 0);
		EXPECT_NE(installed_program(built), built) << home << ": a user's";
		ASSERT_EQ(chown(home.c_str(), 0, 0), 0);
	}
	EXPECT_EQ(installed_program(built), built);
}

} // namespace
} // namespace icepath::end_to_end
