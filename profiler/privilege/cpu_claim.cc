// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/cpu_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "profiler/privilege/rights.h"

namespace icepath::privilege {
namespace {

[[noreturn]] void refuse(const std::string &why)
{
	throw NoClaims(
		ExitCode::MachineCannot,
		fmt::format("CPUs can't be claimed against other runs, so start no other run beside this one: {}", why));
}

Fd open_folder(const std::string &path)
{
	Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct stat status{};
	if (!folder || fstat(folder.get(), &status))
		refuse(fmt::format("{} can't be opened: {}", path, std::strerror(errno)));
	const bool by_others = (status.st_mode & S_IWOTH) != 0 ||
						   ((status.st_mode & S_IWGRP) != 0 && status.st_gid != kOwnGroup && status.st_gid != 0);
	if (status.st_uid != 0 || by_others)
		refuse(fmt::format("{} must be root's, and nobody else may write there: remove it", path));
	return folder;
}

// The process that has locked it; 0: unknown, because it locked it only just now.
pid_t holder_in(const Fd &file)
{
	std::array<char, 16> text{};
	return pread(file.get(), text.data(), text.size() - 1, 0) > 0 ? static_cast<pid_t>(std::atoi(text.data())) : 0;
}

// A killed icepath leaves a helper that ends soon afterwards, and holds the lock until then.
bool has_ended(pid_t holder)
{
	const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, holder, 0)));
	pollfd end{pidfd.get(), POLLIN, 0};
	return pidfd ? poll(&end, 1, 0) > 0 : errno == ESRCH;
}

constexpr int kPatienceMs = 5000, kLookEveryMs = 20;

constexpr mode_t kMode = 0660; // for the group of all processes that may claim CPUs

// Processes that may claim CPUs each have a user of their own.
void give_to_group(const Fd &file)
{
	struct stat status{};
	if (fstat(file.get(), &status) == 0 && status.st_uid == geteuid() &&
		(fchown(file.get(), static_cast<uid_t>(-1), kOwnGroup) || fchmod(file.get(), kMode))) {
		// If it fails, another user's run can't open the file, and is refused.
	}
}

bool is_still_there(const Fd &file, const Fd &folder, const std::string &name)
{
	struct stat locked{}, there{};
	return fstat(file.get(), &locked) == 0 && fstatat(folder.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
		   locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
}

Fd lock(const Fd &folder, const std::string &name, uint32_t cpu)
{
	for (int waited_ms = 0;;) {
		Fd file(openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kMode));
		if (!file && errno == EACCES && waited_ms < kPatienceMs) { // just made, not given to the group yet
			poll(nullptr, 0, kLookEveryMs);
			waited_ms += kLookEveryMs;
			continue;
		}
		if (!file)
			refuse(fmt::format("the lock of CPU {} can't be opened: {}", cpu, std::strerror(errno)));
		give_to_group(file);
		if (flock(file.get(), LOCK_EX | LOCK_NB)) {
			if (errno != EWOULDBLOCK)
				refuse(fmt::format("CPU {} can't be locked: {}", cpu, std::strerror(errno)));
			const pid_t holder = holder_in(file);
			if (holder > 0 && has_ended(holder) && waited_ms < kPatienceMs) {
				poll(nullptr, 0, kLookEveryMs);
				waited_ms += kLookEveryMs;
				continue;
			}
			throw Failure(
				ExitCode::MachineCannot,
				fmt::format("another icepath{} is measuring on CPU {}, and two runs on one CPU measure each other: "
							"wait until it has ended, or take other CPUs with --cpus",
							holder > 0 ? fmt::format(" (pid {})", holder) : "", cpu));
		}
		// Its holder may have removed the file between the two calls.
		if (is_still_there(file, folder, name))
			return file;
	}
}

} // namespace

void make_claim_folder(const std::string &path)
{
	(void)mkdir(path.c_str(), 0700);
	const Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct stat status{};
	if (!folder || fstat(folder.get(), &status) || status.st_uid != 0 || (status.st_mode & S_IWOTH) != 0)
		return; // untrusted: CpuClaim reports it
	if (fchown(folder.get(), 0, kOwnGroup) || fchmod(folder.get(), 0770))
		return;
	std::error_code none;
	for (const auto &entry : std::filesystem::directory_iterator(path, none)) // left by a killed plain root's run
		give_to_group(Fd(openat(folder.get(), entry.path().filename().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)));
}

CpuClaim::CpuClaim(std::vector<uint32_t> cpus, pid_t holder, const std::string &folder) : folder_(open_folder(folder))
{
	std::ranges::sort(cpus);
	cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
	const std::string text = std::to_string(holder);
	try {
		for (const uint32_t cpu : cpus) {
			std::string name = fmt::format("cpu-{}", cpu);
			Fd file = lock(folder_, name, cpu);
			if (ftruncate(file.get(), 0) || pwrite(file.get(), text.data(), text.size(), 0) < 0) {
				// If it fails, other runs can't report the holder.
			}
			locks_.emplace_back(std::move(name), std::move(file));
		}
	} catch (...) {
		let_go();
		throw;
	}
}

CpuClaim::~CpuClaim() { let_go(); }

void CpuClaim::let_go()
{
	for (const auto &[name, file] : locks_)
		unlinkat(folder_.get(), name.c_str(), 0); // before the lock is released: nobody else can hold it yet
	locks_.clear();
}

} // namespace icepath::privilege
