// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

namespace fs = std::filesystem;

constexpr const char *kPrefix = "icepath-selftest-";

Fd open_folder(const fs::path &folder)
{
	return Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Another user's, and one that is in use, are left alone.
void remove_abandoned(const fs::path &above)
{
	std::error_code none;
	for (const auto &entry : fs::directory_iterator(above, none)) {
		if (!entry.path().filename().string().starts_with(kPrefix))
			continue;
		const Fd folder = open_folder(entry.path());
		struct stat status{};
		if (folder && fstat(folder.get(), &status) == 0 && status.st_uid == geteuid() &&
			flock(folder.get(), LOCK_EX | LOCK_NB) == 0)
			fs::remove_all(entry.path(), none);
	}
}

} // namespace

Workspace::Workspace()
{
	const fs::path above = fs::temp_directory_path();
	remove_abandoned(above);
	const std::string pattern = above / (std::string(kPrefix) + "XXXXXX");
	struct stat status{};
	do // Another selftest may take it for abandoned before it is locked.
		make(pattern);
	while (fstat(lock_.get(), &status) == 0 && status.st_nlink == 0);
}

void Workspace::make(const std::string &pattern)
{
	path_ = pattern;
	if (!mkdtemp(path_.data()))
		throw Failure(ExitCode::MachineCannot, fmt::format("{} can't be made: {}; set TMPDIR to a folder that you may "
														   "write",
														   pattern, std::strerror(errno)));
	lock_ = open_folder(path_);
	if (lock_)
		flock(lock_.get(), LOCK_EX);
}

Workspace::~Workspace()
{
	std::error_code ignored;
	fs::remove_all(path_, ignored);
}

} // namespace icepath::selftest
