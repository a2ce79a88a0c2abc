// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where icepath's own files are: found from the running program, so that what is installed can be moved.
#include <filesystem>

namespace icepath {

// The folder of the running program. Read once: in another mount namespace the link may read differently (from a
// chroot: as the path outside).
inline const std::filesystem::path &program_folder()
{
	static const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
	return folder;
}

// A program that icepath starts and nobody else does: in ../libexec/icepath as `make install` has it, or beside the
// running program as in a build folder.
inline std::filesystem::path own_program(const char *name)
{
	const auto installed = (program_folder() / "../libexec/icepath" / name).lexically_normal();
	std::error_code none;
	return std::filesystem::exists(installed, none) ? installed : program_folder() / name;
}

} // namespace icepath
