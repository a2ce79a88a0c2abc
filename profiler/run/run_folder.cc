// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
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

} // namespace

void check_run_folder(const std::string &given)
{
	std::error_code error;
	fs::path directory = fs::path(given).lexically_normal();
	if (!directory.has_filename())
		directory = directory.parent_path();
	const auto status = fs::status(directory, error);
	if (fs::exists(status) && !fs::is_directory(status))
		refuse(fmt::format("{} is a file: -o takes a directory", directory.string()));
	fs::path written = directory;
	if (fs::is_directory(status)) {
		check_is_empty(directory);
	} else {
		written = directory.has_parent_path() ? directory.parent_path() : fs::path(".");
		if (!fs::is_directory(written, error))
			refuse(fmt::format("{} can't be made: there is no folder {}, make it first", directory.string(),
							   written.string()));
	}
	if (faccessat(AT_FDCWD, written.c_str(), W_OK | X_OK, AT_EACCESS))
		refuse(fmt::format("{} can't be written: {}; choose another directory with -o", written.string(),
						   std::strerror(errno)));
}

} // namespace icepath::run
