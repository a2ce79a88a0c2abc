// SPDX-License-Identifier: Apache-2.0
// Root loads no code that other users can change.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/failure.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

class PluginFolders : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		char name[] = "/tmp/icepath-plugins-XXXXXX";
		ASSERT_NE(mkdtemp(name), nullptr);
		folder = name;
		plugin = folder / "icepath-mine.so";
		std::ofstream(plugin) << "";
		chmod(folder.c_str(), 0755);
		chmod(plugin.c_str(), 0755);
		setenv("ICEPATH_PLUGIN_PATH", folder.c_str(), 1);
	}
	void TearDown() override
	{
		unsetenv("ICEPATH_PLUGIN_PATH");
		fs::remove_all(folder);
	}
	fs::path folder, plugin;
};

TEST_F(PluginFolders, OfRootAloneAreRead)
{
	EXPECT_EQ(targets::plugin_paths(), std::vector<std::string>{plugin.string()});
}

// As the lists of manpath(1) and TeX: who adds a folder needn't know where the others are.
TEST_F(PluginFolders, AnEmptyPartIsTheDefaultOne)
{
	unsetenv("ICEPATH_PLUGIN_PATH");
	const std::vector<std::string> by_default = targets::plugin_folders();
	ASSERT_EQ(by_default.size(), 1U);
	for (const auto &[variable, at] : {std::pair{"/mine:", 1}, {":/mine", 0}}) {
		setenv("ICEPATH_PLUGIN_PATH", variable, 1);
		std::vector<std::string> expected = {"/mine"};
		expected.insert(expected.begin() + at, by_default.front());
		EXPECT_EQ(targets::plugin_folders(), expected) << variable;
	}
	for (const char *variable : {"/mine", ""}) {
		setenv("ICEPATH_PLUGIN_PATH", variable, 1);
		EXPECT_EQ(targets::plugin_folders(), *variable ? std::vector<std::string>{variable} : by_default) << variable;
	}
}

TEST_F(PluginFolders, ThatOthersCanWriteAreRefused)
{
	for (const fs::path &path : {folder, plugin}) {
		chmod(path.c_str(), 0777);
		EXPECT_THROW(targets::plugin_paths(), Failure) << path;
		chmod(path.c_str(), 0755);
		ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
		EXPECT_THROW(targets::plugin_paths(), Failure) << path;
		ASSERT_EQ(chown(path.c_str(), 0, 65534), 0);
		EXPECT_NO_THROW(targets::plugin_paths()) << path << ": a group that can't write";
		chmod(path.c_str(), 0775);
		EXPECT_THROW(targets::plugin_paths(), Failure) << path;
		chmod(path.c_str(), 0755);
		ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
	}
}

// A user who can rename a folder can replace it.
TEST_F(PluginFolders, WithinAFolderThatOthersCanChangeAreRefused)
{
	const fs::path within = folder / "lib/icepath";
	fs::create_directories(within);
	fs::rename(plugin, within / "icepath-mine.so");
	setenv("ICEPATH_PLUGIN_PATH", within.c_str(), 1);
	EXPECT_EQ(targets::plugin_paths(), std::vector<std::string>{within / "icepath-mine.so"});
	for (const fs::path &path : {folder, folder / "lib"}) {
		for (const mode_t mode : {0777, 0775}) {
			chmod(path.c_str(), mode);
			EXPECT_THROW(targets::plugin_paths(), Failure) << path << " " << mode;
		}
		chmod(path.c_str(), 01777);
		EXPECT_NO_THROW(targets::plugin_paths()) << path << ": what is root's there can't be renamed";
		ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
		EXPECT_THROW(targets::plugin_paths(), Failure) << path << ": but by the folder's owner";
		chmod(path.c_str(), 0755);
		EXPECT_THROW(targets::plugin_paths(), Failure) << path;
		ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
	}
	EXPECT_NO_THROW(targets::plugin_paths());
}

// Links are resolved first: their target is checked and loaded.
TEST_F(PluginFolders, AreLookedAtWhereLinksLead)
{
	const fs::path real = folder / "real", link = folder / "link", elsewhere = folder / "elsewhere";
	fs::create_directory(real);
	fs::create_directory(elsewhere);
	fs::rename(plugin, elsewhere / "icepath-mine.so");
	fs::create_symlink(elsewhere / "icepath-mine.so", real / "icepath-mine.so");
	fs::create_directory_symlink(real, link);
	setenv("ICEPATH_PLUGIN_PATH", link.c_str(), 1);
	EXPECT_EQ(targets::plugin_paths(), std::vector<std::string>{elsewhere / "icepath-mine.so"});
	for (const fs::path &path : {real, elsewhere}) {
		ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
		EXPECT_THROW(targets::plugin_paths(), Failure) << path;
		ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
	}
}

} // namespace
} // namespace icepath::run
