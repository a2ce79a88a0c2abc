// SPDX-License-Identifier: Apache-2.0
// Whom root takes for the process that holds the journal's lock, whatever locks others have.
#include "profiler/isolation/journal_holder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "cpuset/affinity.h"
#include "cpuset/topology.h"

namespace icepath::isolation {
namespace {

// A process that has locked a file, until it is destroyed.
class Locker {
public:
	Locker(const std::string &path, const char *name, uid_t user)
	{
		int told[2];
		EXPECT_EQ(pipe2(told, O_CLOEXEC), 0);
		pid_ = fork();
		if (pid_ == 0) {
			prctl(PR_SET_NAME, name);
			const Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
			if (setresuid(user, user, user) || flock(file.get(), LOCK_EX | LOCK_NB) || write(told[1], "", 1) != 1)
				_exit(1);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		close(told[1]);
		char byte = 0;
		EXPECT_EQ(read(told[0], &byte, 1), 1) << "it can't lock " << path;
		close(told[0]);
	}
	~Locker()
	{
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	Locker(const Locker &) = delete;
	Locker &operator=(const Locker &) = delete;
	pid_t pid() const { return pid_; }

private:
	pid_t pid_ = -1;
};

// A folder with what is mounted in it, as long as this lives.
class MountFolder {
public:
	MountFolder() { EXPECT_NE(mkdtemp(path_), nullptr); }
	~MountFolder()
	{
		for (const auto &entry : std::filesystem::directory_iterator(path_))
			EXPECT_EQ(umount2(entry.path().c_str(), 0), 0);
		std::filesystem::remove_all(path_);
	}
	MountFolder(const MountFolder &) = delete;
	MountFolder &operator=(const MountFolder &) = delete;
	std::string path() const { return path_; }

private:
	char path_[20] = "/tmp/holder-XXXXXX";
};

// The number of a file in memory says how many were made there before it, so a user can make one with any number.
std::string file_of_a_new_file_system(const std::string &folder)
{
	std::filesystem::create_directory(folder);
	EXPECT_EQ(mount("tmpfs", folder.c_str(), "tmpfs", 0, ""), 0) << "the test needs a file system of its own";
	std::ofstream(folder + "/file").put('x');
	return folder + "/file";
}

// /proc/locks begins with the latest lock of the lowest CPU.
TEST(HolderOfTheJournal, IsIcepathThoughAUsersLockHasItsNumberAndComesFirst)
{
	constexpr uid_t kUser = 61001;
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
		GTEST_SKIP() << "needs a mount namespace";
	const MountFolder folder;
	const std::string ours = file_of_a_new_file_system(folder.path() + "/ours"),
					  theirs = file_of_a_new_file_system(folder.path() + "/theirs");
	struct stat of_ours{}, of_theirs{};
	ASSERT_EQ(stat(ours.c_str(), &of_ours) | stat(theirs.c_str(), &of_theirs), 0);
	ASSERT_EQ(of_ours.st_ino, of_theirs.st_ino);

	const cpuset::CpuList before = cpuset::read_permission().affinity;
	ASSERT_FALSE(cpuset::confine_process({before.front()}));
	{
		const Fd journal(open(ours.c_str(), O_RDWR | O_CLOEXEC));
		EXPECT_FALSE(holder_of(journal));
		const Locker keeper(ours, "icepath-keeper", 0);
		for (const char *name : {"mine", "icepath-keeper"}) {
			const Locker user(theirs, name, kUser);
			const auto holder = holder_of(journal);
			ASSERT_TRUE(holder);
			EXPECT_EQ(holder->pid, keeper.pid());
			EXPECT_EQ(holder->parent, getpid());
		}
	}
	(void)cpuset::confine_process(before);
}

} // namespace
} // namespace icepath::isolation
