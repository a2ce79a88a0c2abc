// SPDX-License-Identifier: Apache-2.0
// Another process of the invoking user takes every possible descriptor (pidfd_getfd(2)) from icepath and all its
// children during a run. Workers' descriptors are the user's, but none is an end of the socket between icepath and a
// process that keeps rights.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <map>
#include <string>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr uid_t kThief = 65534;
constexpr int kDescriptors = 48;
constexpr size_t kMostStolen = 1 << 20;

// The thief's list: sockets by inode.
struct Booty {
	std::atomic<bool> over;
	std::atomic<uint64_t> tries, refused, count;
	ino_t sockets[kMostStolen];
};

void steal_from(pid_t pid, Booty &booty)
{
	const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
	for (int number = 0; pidfd >= 0 && number < kDescriptors; number++) {
		booty.tries++;
		const int stolen = static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, number, 0));
		struct stat status{};
		if (stolen < 0 && errno == EPERM)
			booty.refused++;
		if (stolen >= 0 && fstat(stolen, &status) == 0 && S_ISSOCK(status.st_mode) && booty.count < kMostStolen)
			booty.sockets[booty.count++] = status.st_ino;
		if (stolen >= 0)
			close(stolen);
	}
	close(pidfd);
}

[[noreturn]] void steal(pid_t icepath, Booty &booty)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setresgid(kThief, kThief, kThief) || setresuid(kThief, kThief, kThief))
		_exit(1);
	while (!booty.over) {
		steal_from(icepath, booty);
		for (const pid_t child : children_of(icepath))
			steal_from(child, booty);
	}
	_exit(0);
}

void count_sockets_of(pid_t pid, std::map<ino_t, size_t> &sockets)
{
	std::error_code gone;
	for (const auto &entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
		struct stat status{};
		if (stat(entry.path().c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
			sockets[status.st_ino]++;
	}
}

TEST(Thief, OfTheSameUserGetsNoEndOfIcepaths)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to play sudo";
	const Folder folder;
	auto *booty =
		static_cast<Booty *>(mmap(nullptr, sizeof(Booty), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	ASSERT_NE(booty, MAP_FAILED);
	Running running({icepath_program(), "run", "-q", "-t", "pipe,tcp,mqtt/qos0", "-s", "64", "--patterns", "pingpong",
					 "-d", "5", "-o", "out"},
					folder.path(), {{"SUDO_UID", std::to_string(kThief)}});
	const pid_t thief = fork();
	if (thief == 0)
		steal(running.pid(), *booty);
	// The number of looks that found each. Workers' ends come and go, and icepath holds theirs until they have started.
	std::map<ino_t, size_t> of_icepath, of_helper;
	size_t looks = 0;
	for (siginfo_t end{};
		 waitid(P_PID, static_cast<id_t>(running.pid()), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0;) {
		for (const pid_t helper : children_named(running.pid(), "icepath-helper")) {
			count_sockets_of(helper, of_helper);
			count_sockets_of(running.pid(), of_icepath);
			looks++;
		}
		std::this_thread::sleep_for(2ms);
	}
	const Outcome outcome = running.wait(30s);
	booty->over = true;
	int status = -1;
	waitpid(thief, &status, 0);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	for (auto *sockets : {&of_icepath, &of_helper})
		std::erase_if(*sockets, [&](const auto &one) { return one.second < looks / 2; });
	ASSERT_EQ(of_helper.size(), 1u) << "its end";
	ASSERT_GE(of_icepath.size(), 1u) << "the other one is among these";
	EXPECT_GT(booty->refused, 100u) << "it never met a process that isn't to be robbed";
	for (size_t i = 0; i < booty->count; i++)
		ASSERT_FALSE(of_icepath.contains(booty->sockets[i]) || of_helper.contains(booty->sockets[i]));
	munmap(booty, sizeof(Booty));
}

} // namespace
} // namespace icepath::end_to_end
