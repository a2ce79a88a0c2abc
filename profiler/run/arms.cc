// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/arms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

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
bool is_emptied(const fs::path &folder) { return folder == "/tmp" || folder == "/dev/shm"; }

bool is_below_emptied(const std::string &path) { return path.starts_with("/tmp/") || path.starts_with("/dev/shm/"); }

// `given`: as the user named what is in the folder.
void check_kept(const model::Arm &arm, const fs::path &folder, const std::string &given)
{
	std::error_code error;
	if (is_emptied(folder))
		refuse(arm, fmt::format("{}: {} itself is empty where middleware runs: put it into a folder of its own", given,
								folder.string()));
	if (const fs::path real = fs::canonical(folder, error); !error && is_below_emptied(folder) && real != folder)
		refuse(arm, fmt::format("{}: the way there is over the link {}, which is gone where middleware runs: say {}",
								given, folder.string(), real.string()));
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
	check_kept(arm, is_folder ? found : found.parent_path(), given);
	return found;
}

// Where links in the folder lead to, one after the other.
struct Led {
	fs::path link, to;
};
std::vector<Led> led_out_of(const fs::path &folder)
{
	constexpr int kMostLinks = 40; // that the kernel follows
	std::vector<Led> all;
	std::error_code none;
	for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, none), end;
		 at != end; at.increment(none)) {
		std::error_code error;
		fs::path link = at->path();
		for (int i = 0; i < kMostLinks && fs::is_symlink(link, error) && fs::exists(link, error); ++i) {
			const fs::path to = (link.parent_path() / fs::read_symlink(link, error)).lexically_normal();
			all.push_back({link, to});
			link = to;
		}
	}
	return all;
}

// Paths in the value of a variable that are there, and lie in what is emptied.
std::vector<fs::path> emptied_paths_in(const std::string &value)
{
	std::vector<fs::path> paths;
	std::error_code error;
	for (size_t at = value.find('/'); at != value.npos; at = value.find('/', at + 1)) {
		const bool begins = at == 0 || !(std::isalnum(static_cast<unsigned char>(value[at - 1])) ||
										 std::string_view("._-").find(value[at - 1]) != std::string_view::npos);
		const std::string path = value.substr(at, value.find_first_of(":;,<>&\"' \t\n", at) - at);
		if (begins && is_below_emptied(path) && fs::exists(path, error))
			paths.emplace_back(path);
	}
	return paths;
}

fs::path folder_of(const fs::path &path)
{
	std::error_code error;
	return fs::is_directory(path, error) && !fs::is_symlink(path, error) ? path : path.parent_path();
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
	for (const auto &[key, folder] : {std::pair{"plugins", arm.plugins}, {"lib", arm.library_path}})
		if (!folder.empty())
			for (const auto &[link, to] : led_out_of(folder))
				check_kept(arm, folder_of(to), fmt::format("{}={}: the link {}", key, folder, link.string()));
	for (const auto &[name, value] : arm.environment)
		for (const fs::path &path : emptied_paths_in(value))
			check_kept(arm, folder_of(path), fmt::format("env={}={}", name, value));
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
	const auto add = [&](const std::string &folder) {
		if (std::ranges::find(folders, folder) == folders.end())
			folders.push_back(folder);
	};
	for (const std::string &folder : {arm.plugins, arm.library_path})
		if (!folder.empty()) {
			add(folder);
			for (const Led &led : led_out_of(folder))
				add(folder_of(led.to));
		}
	if (!arm.config.empty())
		add(fs::path(arm.config).parent_path());
	for (const auto &[name, value] : environment_of(arm))
		for (const fs::path &path : emptied_paths_in(value))
			if (!is_emptied(folder_of(path)))
				add(folder_of(path));
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
