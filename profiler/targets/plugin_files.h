// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where plug-ins are, and which of them this build lacks.
#include <filesystem>
#include <string>
#include <vector>

namespace icepath::targets {

// Folder of the running program; icepath-worker is in it too.
const std::filesystem::path &program_folder();

// Folders to search for icepath-<name>.so: those of ICEPATH_PLUGIN_PATH, separated by ':'. An empty part, as in ".:",
// and an empty or missing variable stand for ../lib/icepath, relative to the folder of the running program.
std::vector<std::string> plugin_folders();
std::vector<std::string> plugin_paths();

// An adapter that wasn't built. One of the last three is set: the missing Debian package, the missing library that
// Debian doesn't package, or the CMake option with which cargo builds the adapter.
struct NotBuilt {
	std::string name, package, library, cargo;
};
std::vector<NotBuilt> adapters_not_built();
// "Debian's package liblcm-dev was missing when icepath was configured"
std::string why_not_built(const NotBuilt &adapter);

} // namespace icepath::targets
