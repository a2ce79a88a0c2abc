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
#include <utility>

#include "profiler/failure.h"

namespace icepath::targets {

namespace fs = std::filesystem;

// Read once: who enters another mount namespace later may find another path there, in a chroot that from the root outside.
const fs::path &program_folder()
{
	static const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
	return folder;
}

std::vector<std::string> plugin_folders()
{
	const char *wish = std::getenv("ICEPATH_PLUGIN_PATH");
	if (!wish || !*wish)
		return {(program_folder() / "../lib/icepath").lexically_normal()};
	std::vector<std::string> folders;
	std::istringstream list(wish);
	for (std::string folder; std::getline(list, folder, ':');)
		if (!folder.empty())
			folders.push_back(folder);
	return folders;
}

namespace {

// What root loads shall be nobody else's to change: a plug-in's code runs as who loads it.
void check_not_others(const std::string &path)
{
	struct stat status{};
	if (geteuid() != 0 || stat(path.c_str(), &status))
		return;
	const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0;
	if (status.st_uid != 0 || by_group || (status.st_mode & S_IWOTH) != 0)
		throw Failure(ExitCode::Usage,
					  fmt::format("root loads no plug-in from {}, which others can change: run icepath by sudo "
								  "from an ordinary user, or chown root and chmod go-w it",
								  path));
}

} // namespace

std::vector<std::string> plugin_paths()
{
	std::vector<std::string> paths;
	for (const std::string &folder : plugin_folders()) {
		std::error_code none;
		for (const auto &entry : fs::directory_iterator(folder, none)) {
			const std::string file = entry.path().filename();
			if (!file.starts_with("icepath-") || !file.ends_with(".so"))
				continue;
			check_not_others(folder);
			check_not_others(entry.path());
			paths.push_back(fs::weakly_canonical(entry.path()));
		}
	}
	std::sort(paths.begin(), paths.end());
	paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
	return paths;
}

// middleware_adapters/CMakeLists.txt writes the list beside the plug-ins: a line for each, of a name, "package", "library" or "cargo",
// and what that is called.
std::vector<NotBuilt> adapters_not_built()
{
	std::vector<NotBuilt> all;
	for (const std::string &folder : plugin_folders()) {
		std::ifstream list(fs::path(folder) / "not-built");
		NotBuilt one;
		for (std::string kind, missing; list >> one.name >> kind >> std::ws && std::getline(list, missing);) {
			(kind == "package" ? one.package : kind == "cargo" ? one.cargo : one.library) = missing;
			all.push_back(std::exchange(one, {}));
		}
	}
	return all;
}

std::string why_not_built(const NotBuilt &adapter)
{
	if (!adapter.cargo.empty())
		return fmt::format("cargo builds it on demand (cmake {})", adapter.cargo);
	return (adapter.package.empty() ? adapter.library + ", which Debian doesn't package,"
									: "Debian's package " + adapter.package) +
		   " was missing when icepath was configured";
}

} // namespace icepath::targets
