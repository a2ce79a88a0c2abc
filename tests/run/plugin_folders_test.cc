// SPDX-License-Identifier: Apache-2.0
// Root loads no code that others can change.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/run/worker_process.h"
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

} // namespace
} // namespace icepath::run
