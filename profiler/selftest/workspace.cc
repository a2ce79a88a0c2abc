// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "profiler/failure.h"
#include "profiler/privilege/root_process.h"

namespace icepath::selftest {
namespace {

namespace fs = std::filesystem;

constexpr const char *kPrefix = "icepath-selftest-";

Fd open_folder(const fs::path &folder)
{
	return Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Skips folders of other users, and those in use.
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

// Only SIGKILL ends it before `maker`, whose workers may still write for some time after its end.
[[noreturn]] void remove_after(int maker, int lock, const fs::path &path)
{
	constexpr int kTries = 100, kTryEveryMs = 20;
	const Fd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
	for (int standard = 0; standard < 3; standard++)
		dup2(nothing.get(), standard);
	privilege::close_all_but({maker, lock});
	prctl(PR_SET_NAME, "icepath-folder");
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, nullptr);
	pollfd end{maker, POLLIN, 0};
	while (poll(&end, 1, -1) < 0 && errno == EINTR) {
	}
	std::error_code error;
	for (int i = 0; i < kTries && (fs::remove_all(path, error) == static_cast<uintmax_t>(-1) || error); i++)
		poll(nullptr, 0, kTryEveryMs);
	_exit(0);
}

} // namespace

Workspace::Workspace()
{
	const fs::path above = fs::temp_directory_path();
	remove_abandoned(above);
	const std::string pattern = above / (std::string(kPrefix) + "XXXXXX");
	struct stat status{};
	do // another selftest may take it for abandoned before it is locked
		make(pattern);
	while (fstat(lock_.get(), &status) == 0 && status.st_nlink == 0);
	const Fd self = pidfd_of(getpid());
	remover_ = self ? fork() : -1;
	if (remover_ == 0)
		remove_after(self.get(), lock_.get(), path_);
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
	if (remover_ > 0 && kill(remover_, SIGKILL) == 0)
		waitpid(remover_, nullptr, 0);
}

} // namespace icepath::selftest
