// SPDX-License-Identifier: Apache-2.0
#include "profiler/targets/plugin_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "profiler/failure.h"
#include "profiler/own_programs.h"

namespace icepath::targets {

namespace fs = std::filesystem;

std::vector<std::string> plugin_folders()
{
	const char *variable = std::getenv("ICEPATH_PLUGIN_PATH");
	// ':' at the end ends another part, which is empty.
	std::istringstream list(std::string(variable ? variable : "") + ':');
	std::vector<std::string> folders;
	for (std::string folder; std::getline(list, folder, ':');)
		folders.push_back(folder.empty() ? (program_folder() / "../lib/icepath").lexically_normal().string() : folder);
	return folders;
}

namespace {

// Whether only root can replace it. In a sticky folder such as /tmp others can neither rename nor remove root's files.
bool is_roots_alone(const struct stat &status)
{
	return status.st_uid == 0 && ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
								  (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0));
}

} // namespace

// A plug-in's code runs with the rights of the process that loads it. All folders are checked, because the owner of one
// can replace what is below it.
void check_not_others(const std::string &path, const char *what)
{
	if (geteuid() != 0)
		return;
	for (fs::path part(path);; part = part.parent_path()) {
		struct stat status{};
		if (lstat(part.c_str(), &status) || !is_roots_alone(status))
			throw Failure(
				ExitCode::Usage,
				fmt::format("root loads no {} from {}, since others can change {}: run icepath by sudo from an "
							"ordinary user, or chown root and chmod go-w it",
							what, path, part.string()));
		if (!part.has_relative_path())
			return;
	}
}

void check_folder_not_others(const std::string &folder, const char *what)
{
	if (geteuid() != 0)
		return;
	check_not_others(folder, what);
	const auto refuse = [&](const std::string &why) {
		throw Failure(ExitCode::Usage, fmt::format("root loads no {} from {}, since {}: run icepath by sudo from an "
												   "ordinary user, or make a folder of root's with plain files",
												   what, folder, why));
	};
	const auto check = [&](const fs::path &path) {
		struct stat status{};
		const bool is_link = lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
		if (status.st_uid != 0 || (!is_link && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0))
			refuse(fmt::format("others can change {}", path.string()));
		std::error_code dangling;
		const fs::path real = is_link ? fs::canonical(path, dangling) : path;
		if (dangling || (is_link && (!fs::is_regular_file(real) || !real.string().starts_with(folder + "/"))))
			refuse(fmt::format("the link {} doesn't lead to a file in it", path.string()));
	};
	std::error_code unreadable;
	check(folder);
	for (fs::recursive_directory_iterator at(folder, unreadable), end; !unreadable && at != end;
		 at.increment(unreadable))
		check(at->path());
	if (unreadable)
		refuse(unreadable.message());
}

std::vector<std::string> plugin_paths(const std::vector<std::string> &folders)
{
	std::vector<std::string> paths;
	for (const std::string &named : folders) {
		std::error_code none;
		const fs::path folder = fs::canonical(named, none);
		for (const auto &entry : fs::directory_iterator(folder, none)) {
			const std::string file = entry.path().filename();
			if (!file.starts_with("icepath-") || !file.ends_with(".so"))
				continue;
			check_not_others(folder, "plug-in");
			const fs::path plugin = fs::weakly_canonical(entry.path());
			check_not_others(plugin, "plug-in");
			paths.push_back(plugin);
		}
	}
	std::sort(paths.begin(), paths.end());
	paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
	return paths;
}

// middleware_adapters/CMakeLists.txt writes the list beside the plug-ins. Each line has the adapter's name, "package",
// "library" or "cargo", and the name of that. packaging/staged.cmake adds "own" for each adapter that is in a package
// of its own.
std::vector<NotBuilt> adapters_not_built()
{
	std::vector<NotBuilt> all;
	for (const std::string &folder : plugin_folders()) {
		std::ifstream list(fs::path(folder) / "not-built");
		NotBuilt one;
		for (std::string kind, missing; list >> one.name >> kind >> std::ws && std::getline(list, missing);) {
			(kind == "package" ? one.package
			 : kind == "cargo" ? one.cargo
			 : kind == "own"   ? one.own_package
							   : one.library) = missing;
			if (one.own_package.empty() || !fs::exists(fs::path(folder) / ("icepath-" + one.name + ".so")))
				all.push_back(one);
			one = {};
		}
	}
	return all;
}

std::string why_not_built(const NotBuilt &adapter)
{
	if (!adapter.own_package.empty())
		return fmt::format("isn't installed: the package {} has it", adapter.own_package);
	if (!adapter.cargo.empty())
		return fmt::format("isn't built: cargo builds it on demand (cmake {})", adapter.cargo);
	return "isn't built: " +
		   (adapter.package.empty() ? adapter.library + ", which Debian doesn't package,"
									: "Debian's package " + adapter.package) +
		   " was missing when icepath was configured";
}

} // namespace icepath::targets
