// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/arms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "profiler/failure.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

// Where a library looks for its configuration. Adapters that give it settings of their own add the file to these.
struct ConfigVariable {
	const char *name, *before_path;
};
constexpr std::array kConfigVariables = {ConfigVariable{"CYCLONEDDS_URI", "file://"},
										 ConfigVariable{"FASTRTPS_DEFAULT_PROFILES_FILE", ""},
										 ConfigVariable{"FASTDDS_DEFAULT_PROFILES_FILE", ""}};
constexpr std::array kReadConfig = {"cyclonedds", "cyclonedds-cxx", "fastdds", "ros2"};

// Names of variables that adapters leave as they are, separated by ':' (plugin_kit/arm_settings.h).
constexpr const char *kKeptVariables = "ICEPATH_ARM_VARIABLES";

[[noreturn]] void refuse(const model::Arm &arm, const std::string &why)
{
	throw Failure(ExitCode::Usage, fmt::format("--arm {}: {}", arm.name, why));
}

// Where middleware runs, these are empty, and only folders in them are kept.
void check_not_emptied(const model::Arm &arm, const fs::path &folder, const std::string &given)
{
	if (folder == "/tmp" || folder == "/dev/shm")
		refuse(arm, fmt::format("{}: {} itself is empty where middleware runs: put it into a folder of its own", given,
								folder.string()));
}

fs::path resolved(const model::Arm &arm, const char *key, const std::string &path, bool is_folder)
{
	const std::string given = fmt::format("{}={}", key, path);
	std::error_code error;
	const fs::path found = fs::canonical(path, error);
	if (error)
		refuse(arm, fmt::format("{}: {}", given, error.message()));
	if (fs::is_directory(found, error) != is_folder || (!is_folder && !fs::is_regular_file(found, error)))
		refuse(arm, fmt::format("{} isn't a {}", given, is_folder ? "folder" : "file"));
	if (access(found.c_str(), is_folder ? R_OK | X_OK : R_OK))
		refuse(arm, fmt::format("{} can't be read", given));
	if (is_folder && found.native().find_first_of(":;") != std::string::npos) // ld.so(8) takes both for separators
		refuse(arm, fmt::format("{}: a folder in a list of folders can't have ':' or ';' in its name", given));
	check_not_emptied(arm, is_folder ? found : found.parent_path(), given);
	return found;
}

// Files that are in the folder, or that links in it lead to, and folders in it.
std::vector<fs::path> contents_of(const fs::path &folder)
{
	std::vector<fs::path> all;
	std::error_code none;
	for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, none), end;
		 at != end; at.increment(none)) {
		std::error_code dangling;
		if (const fs::path real = fs::canonical(at->path(), dangling); !dangling)
			all.push_back(real);
	}
	return all;
}

} // namespace

model::Arm found(model::Arm arm)
{
	if (!arm.plugins.empty()) {
		arm.plugins = resolved(arm, "plugins", arm.plugins, true);
		targets::check_folder_not_others(arm.plugins, "plug-in");
	}
	if (!arm.library_path.empty()) {
		arm.library_path = resolved(arm, "lib", arm.library_path, true);
		targets::check_folder_not_others(arm.library_path, "library");
	}
	if (!arm.config.empty()) {
		arm.config = resolved(arm, "config", arm.config, false);
		targets::check_not_others(arm.config, "configuration");
	}
	return arm;
}

Environment environment_of(const model::Arm &arm)
{
	Environment environment;
	if (!arm.library_path.empty()) {
		const char *const before = std::getenv("LD_LIBRARY_PATH");
		environment.emplace_back("LD_LIBRARY_PATH",
								 arm.library_path + (before && *before ? ":" + std::string(before) : ""));
	}
	if (!arm.config.empty())
		for (const auto &[name, before_path] : kConfigVariables)
			environment.emplace_back(name, before_path + arm.config);
	for (const auto &[name, value] : arm.environment) {
		std::erase_if(environment, [&](const auto &variable) { return variable.first == name; });
		environment.emplace_back(name, value);
	}
	std::vector<std::string> names;
	for (const auto &[name, value] : environment)
		names.push_back(name);
	if (!names.empty())
		environment.emplace_back(kKeptVariables, fmt::format("{}", fmt::join(names, ":")));
	return environment;
}

std::vector<std::string> folders_of(const model::Arm &arm)
{
	std::vector<std::string> folders;
	for (const std::string &folder : {arm.plugins, arm.library_path}) {
		if (folder.empty())
			continue;
		folders.push_back(folder);
		for (const fs::path &one : contents_of(folder))
			if (const std::string parent = one.parent_path();
				parent != "/tmp" && parent != "/dev/shm" && std::ranges::find(folders, parent) == folders.end())
				folders.push_back(parent);
	}
	if (!arm.config.empty())
		folders.push_back(fs::path(arm.config).parent_path());
	return folders;
}

void check_configs(const std::vector<model::Arm> &arms, const plan::Plan &plan)
{
	for (const model::Cell &cell : plan.cells) {
		const model::Arm *arm = model::find_arm(arms, cell.arm);
		const std::string adapter = cell.target.substr(0, cell.target.find('/'));
		if (arm && !arm->config.empty() && std::ranges::find(kReadConfig, adapter) == kReadConfig.end())
			refuse(*arm, fmt::format("config={}: {} reads no file of configuration from icepath, so it would be "
									 "measured without it: name other targets with -t, or set its variables with env=",
									 arm->config, cell.target));
	}
}

} // namespace icepath::run
