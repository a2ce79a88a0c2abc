// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where plug-ins are, and which of them this build has not.
#include <filesystem>
#include <string>
#include <vector>

namespace icepath::targets {

// Of the running program; this build has its worker there.
const std::filesystem::path &program_folder();

// Folders that are searched for icepath-<name>.so: those of ICEPATH_PLUGIN_PATH, separated by ':', or else ../lib/icepath
// beside the folder of the running program.
std::vector<std::string> plugin_folders();
std::vector<std::string> plugin_paths();

// An adapter that was missing something when icepath was built: a package of Debian's, or a library that Debian doesn't
// package; or that wasn't asked for, with the option that has cargo build it. The others are empty.
struct NotBuilt {
	std::string name, package, library, cargo;
};
std::vector<NotBuilt> adapters_not_built();
std::string
why_not_built(const NotBuilt &adapter); // "Debian's package liblcm-dev was missing when icepath was configured"

} // namespace icepath::targets
