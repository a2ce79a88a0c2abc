// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where plug-ins are, and which of them this build lacks.
#include <string>
#include <vector>

namespace icepath::targets {

// Folders to search for icepath-<name>.so: those of ICEPATH_PLUGIN_PATH, separated by ':'. An empty part, as in ".:",
// and an empty or missing variable stand for ../lib/icepath, relative to the folder of the running program.
std::vector<std::string> plugin_folders();
// Throws Failure(Usage) for root if others can change a plug-in or a folder above it.
std::vector<std::string> plugin_paths(const std::vector<std::string> &folders = plugin_folders());

// What root loads must not be changeable by others: `path`, without links on its way, and the folders above it. Throws
// Failure(Usage) for root if it is. `what`: "plug-in", for the sentence.
void check_not_others(const std::string &path, const char *what);
// The same of a folder whose files are looked up by name later: nobody else may add or change anything in it, and its
// links lead to files in it.
void check_folder_not_others(const std::string &folder, const char *what);

// An adapter that isn't here. One of the others is set: what was missing when icepath was configured, a Debian package
// or a library that Debian doesn't package; the CMake option with which cargo builds the adapter; or the package of
// icepath's own that has it and isn't installed.
struct NotBuilt {
	std::string name, package, library, cargo, own_package;
};
std::vector<NotBuilt> adapters_not_built();
// "isn't built: Debian's package liblcm-dev was missing when icepath was configured"
std::string why_not_built(const NotBuilt &adapter);

} // namespace icepath::targets
