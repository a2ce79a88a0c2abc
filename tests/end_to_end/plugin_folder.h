// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder with a plug-in of the tests, from which root loads it: nobody else may write there.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {

class PluginFolder {
public:
	explicit PluginFolder(const std::filesystem::path &plugin)
	{
		char name[] = "/tmp/icepath-plugin-XXXXXX";
		EXPECT_NE(mkdtemp(name), nullptr);
		folder_ = name;
		chmod(name, 0755);
		std::filesystem::copy_file(plugin, folder_ / plugin.filename());
	}
	~PluginFolder()
	{
		std::error_code ignored;
		std::filesystem::remove_all(folder_, ignored);
	}
	PluginFolder(const PluginFolder &) = delete;
	PluginFolder &operator=(const PluginFolder &) = delete;

	// Beside those of the build.
	std::map<std::string, std::string> environment() const
	{
		const auto build = std::filesystem::path(icepath_program()).parent_path().parent_path();
		return {{"ICEPATH_PLUGIN_PATH", (build / "lib/icepath").string() + ":" + folder_.string()}};
	}

private:
	std::filesystem::path folder_;
};

} // namespace icepath::end_to_end
