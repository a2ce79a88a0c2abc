// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "profiler/failure.h"
#include "profiler/rundir/container.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string &sentence) { throw Failure(ExitCode::Usage, sentence); }

void check_is_empty(const fs::path &directory)
{
	std::error_code error;
	const fs::directory_iterator first(directory, error);
	if (error)
		refuse(
			fmt::format("{} can't be read: {}; choose another directory with -o", directory.string(), error.message()));
	for (const char *name : {rundir::kContainerName, rundir::kPartialName})
		if (fs::exists(fs::symlink_status(directory / name, error)))
			refuse(fmt::format("{} holds a {} already; choose another directory with -o", directory.string(),
							   name == rundir::kContainerName ? "run" : "partial run"));
	if (first != fs::directory_iterator())
		refuse(
			fmt::format("{} has files that aren't a run's (\"{}\"): give -o a directory that is empty or doesn't exist",
						directory.string(), first->path().filename().string()));
}

// A path that can't be looked at can't be written: its name is too long, or a folder above it can't be searched.
fs::file_status look_at(const fs::path &path)
{
	std::error_code error;
	const fs::file_status status = fs::status(path, error);
	if (status.type() == fs::file_type::none)
		refuse(
			fmt::format("{} can't be written: {}; choose another directory with -o", path.string(), error.message()));
	return status;
}

// The nearest folder above it that exists.
fs::path folder_above(const fs::path &directory, bool with_parent)
{
	fs::path parent = directory.has_parent_path() ? directory.parent_path() : fs::path(".");
	const fs::file_status status = look_at(parent);
	if (fs::is_directory(status))
		return parent;
	if (fs::exists(status) || !with_parent)
		refuse(
			fmt::format("{} can't be made: there is no folder {}, make it first", directory.string(), parent.string()));
	return folder_above(parent, false);
}

void check_name(const fs::path &directory, const fs::path &above)
{
	const long most = pathconf(above.c_str(), _PC_NAME_MAX);
	if (const size_t length = directory.filename().string().size(); most > 0 && length > static_cast<size_t>(most))
		refuse(fmt::format("{} can't be made: its name has {} bytes; the limit is {}; choose another directory "
						   "with -o, or a shorter --name",
						   directory.string(), length, most));
}

} // namespace

void check_run_folder(const std::string &given, bool with_parent)
{
	fs::path directory = fs::path(given).lexically_normal();
	if (!directory.has_filename())
		directory = directory.parent_path();
	fs::path written = directory;
	const fs::file_status status = look_at(directory);
	if (fs::is_directory(status)) {
		check_is_empty(directory);
	} else if (fs::exists(status)) {
		refuse(fmt::format("{} is a file: -o takes a directory", directory.string()));
	} else {
		written = folder_above(directory, with_parent);
		check_name(directory, written);
	}
	look_at(directory / rundir::kPartialName); // a path can be too long although its names aren't
	if (faccessat(AT_FDCWD, written.c_str(), W_OK | X_OK, AT_EACCESS))
		refuse(fmt::format("{} can't be written: {}; choose another directory with -o", written.string(),
						   std::strerror(errno)));
	struct stat folder{};
	if (stat(written.c_str(), &folder) == 0 && folder.st_nlink == 0)
		refuse(fmt::format("{} can't be written: this folder has been removed; go to another one", written.string()));
}

} // namespace icepath::run
