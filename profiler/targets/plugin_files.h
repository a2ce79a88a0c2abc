// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where plug-ins are, and which of them this build lacks.
#include <string>
#include <vector>

namespace icepath::targets {

// Folders to search for icepath-<name>.so: those of ICEPATH_PLUGIN_PATH, separated by ':'. An empty part, as in ".:",
// and an empty or missing variable stand for ../lib/icepath, relative to the folder of the running program.
std::vector<std::string> plugin_folders();
std::vector<std::string> plugin_paths();

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
