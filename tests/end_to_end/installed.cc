// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/installed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kInstalledMode = 0755;

// Whether it and every folder above it are root's alone, and all users may enter them. In a sticky folder such as /tmp
// others can't replace what is root's.
bool is_as_installed(const fs::path &file)
{
	for (fs::path part = file;; part = part.parent_path()) {
		struct stat status{};
		if (lstat(part.c_str(), &status) || status.st_uid != 0 || (status.st_mode & S_IXOTH) == 0)
			return false;
		if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0)
			return false;
		if (part == part.root_path())
			return true;
	}
}

void set_mode(const fs::path &path)
{
	if (chmod(path.c_str(), kInstalledMode))
		throw fs::filesystem_error("chmod", path, std::error_code(errno, std::generic_category()));
}

} // namespace

Installed::Installed(fs::path built) : built_(std::move(built))
{
	std::string name = fs::temp_directory_path() / "icepath-installed-XXXXXX";
	if (!mkdtemp(name.data()))
		throw fs::filesystem_error("mkdtemp", name, std::error_code(errno, std::generic_category()));
	folder_ = name;
	fs::create_directories(folder_ / "bin");
	fs::create_directories(folder_ / "lib");
	fs::copy(built_.parent_path() / "lib/icepath", folder_ / "lib/icepath", fs::copy_options::recursive);
	for (const char *program_of_all : {"icepath", "icepath-helper", "icepath-worker"})
		program(program_of_all);
	// Whoever built it, with whatever umask.
	for (const auto &entry : fs::recursive_directory_iterator(folder_))
		set_mode(entry.path());
	set_mode(folder_);
}

Installed::~Installed()
{
	std::error_code none;
	fs::remove_all(folder_, none);
}

fs::path Installed::program(const fs::path &name) const
{
	const fs::path copy = folder_ / "bin" / name;
	if (!fs::exists(copy)) {
		fs::copy_file(built_ / name, copy);
		set_mode(copy);
	}
	return copy;
}

fs::path installed_program(const fs::path &built)
{
	if (geteuid() != 0 || is_as_installed(built))
		return built;
	static const Installed installed(built.parent_path());
	return installed.program(built.filename());
}

} // namespace icepath::end_to_end
