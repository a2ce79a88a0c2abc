// SPDX-License-Identifier: Apache-2.0
// What processes keep of root, and that they don't outlive icepath.
#include "profiler/privilege/rights.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "profiler/failure.h"
#include "profiler/privilege/helper_filter.h"
#include "profiler/privilege/root_process.h"
#include "tests/privilege/no_filters.h"
#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

uint64_t capabilities(const std::string &set)
{
	std::ifstream status("/proc/self/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with(set + ":"))
			return std::stoull(line.substr(set.size() + 1), nullptr, 16);
	return UINT64_MAX;
}

// The result of `check`, as the child's exit status.
template <class Check> int in_a_child(Check check)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(check());
	int status = -1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Identity nobody()
{
	Identity user;
	user.uid = user.gid = 65534;
	user.groups = {65534, 12345};
	user.was_root = true;
	return user;
}

uint64_t bits_of(const Capabilities &capabilities)
{
	uint64_t bits = 0;
	for (const int capability : capabilities)
		bits |= uint64_t{1} << capability;
	return bits;
}

class RightsTest : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

TEST_F(RightsTest, OfTheHelperAreThoseOfCapturingAndNoOthers)
{
	EXPECT_EQ(
		in_a_child([icepath = getpid()] {
			const uint64_t before = capabilities("CapPrm");
			keep_only(for_loading(), nobody(), icepath);
			const uint64_t kept = bits_of(for_loading().capabilities);
			gid_t group = 0;
			int failed = 0;
			failed |= capabilities("CapEff") != (before & kept) || capabilities("CapPrm") != (before & kept) ? 1 : 0;
			failed |= capabilities("CapBnd") != (before & kept) || capabilities("CapInh") != 0 ? 2 : 0;
			failed |= prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0 ? 4 : 0;
			failed |= std::filesystem::current_path() != "/" || std::getenv("PATH") || getsid(0) != getpid() ? 8 : 0;
			failed |= getuid() != 65534 || geteuid() <= kOwnGroup || getegid() != kOwnGroup ? 16 : 0;
			failed |= getgroups(0, nullptr) != 0 || getgroups(1, &group) != 0 ? 32 : 0;
			failed |= setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0 ? 64 : 0;
			failed |= open("/etc/shadow", O_RDONLY | O_CLOEXEC) >= 0 ? 128 : 0;
			return failed;
		}),
		0);
}

// CAP_SYS_ADMIN is for kprobes, CAP_SYS_PTRACE for a /proc that hides processes.
TEST_F(RightsTest, OfALoadedHelperAreFewer)
{
	const uint64_t needed = uint64_t{1} << CAP_BPF | uint64_t{1} << CAP_PERFMON;
	EXPECT_EQ(bits_of(for_capturing(false)), needed);
	EXPECT_EQ(bits_of(for_capturing(true)), needed | uint64_t{1} << CAP_SYS_ADMIN);
	EXPECT_EQ(in_a_child([needed] {
				  // Another mount, because an existing one's options apply to the whole machine.
				  if (unshare(CLONE_NEWNS) || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
					  mount("proc", "/proc", "proc", 0, "hidepid=2"))
					  return 1;
				  return bits_of(for_capturing(false)) == (needed | uint64_t{1} << CAP_SYS_PTRACE) ? 0 : 2;
			  }),
			  0);
}

TEST_F(RightsTest, OfRootsOwnRunLeadNotBackToRoot)
{
	EXPECT_EQ(in_a_child([icepath = getpid()] {
				  Identity root;
				  root.was_root = root.stays_root = true;
				  keep_only(for_loading(), root, icepath);
				  return getuid() == geteuid() && geteuid() > kOwnGroup && setresuid(0, 0, 0) != 0 ? 0 : 1;
			  }),
			  0);
}

TEST_F(RightsTest, EndWhereTheProcessBecomesItsRealUser)
{
	EXPECT_EQ(in_a_child([icepath = getpid()] {
				  keep_only(for_spaces(), nobody(), icepath);
				  become_real_user();
				  int failed = 0;
				  failed |= capabilities("CapEff") != 0 || capabilities("CapPrm") != 0 ? 1 : 0;
				  failed |= getuid() != 65534 || geteuid() != 65534 || getegid() != 65534 ? 2 : 0;
				  failed |= getgroups(0, nullptr) != 2 ? 4 : 0;
				  failed |= setresuid(0, 0, 0) == 0 || setresgid(kOwnGroup, kOwnGroup, kOwnGroup) == 0 ? 8 : 0;
				  return failed;
			  }),
			  0);
}

bool ends_within(pid_t child, int patience_ms)
{
	const Fd pidfd = pidfd_of(child);
	pollfd end{pidfd.get(), POLLIN, 0};
	return poll(&end, 1, patience_ms) == 1;
}

// The invoking user may end the processes that work for it, but may neither trace them nor take their descriptors.
TEST_F(RightsTest, LeaveItToTheUserToEndTheProcess)
{
	int ready[2];
	ASSERT_EQ(pipe(ready), 0);
	const pid_t helper = fork();
	if (helper == 0) {
		keep_only(for_loading(), nobody(), getppid());
		(void)!write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	char byte = 0;
	ASSERT_EQ(read(ready[0], &byte, 1), 1);
	EXPECT_EQ(in_a_child([helper] {
				  const Fd pidfd = pidfd_of(helper);
				  if (setgroups(0, nullptr) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
					  return 1;
				  if (ptrace(PTRACE_SEIZE, helper, nullptr, nullptr) == 0)
					  return 2;
				  if (syscall(SYS_pidfd_getfd, pidfd.get(), 0, 0) >= 0)
					  return 4;
				  if (access(("/proc/" + std::to_string(helper) + "/fd/0").c_str(), F_OK) == 0)
					  return 8;
				  return kill(helper, SIGKILL) == 0 ? 0 : 16;
			  }),
			  0);
	const bool by_user = ends_within(helper, 2000);
	kill(helper, SIGKILL);
	EXPECT_TRUE(by_user);
	int status = 0;
	waitpid(helper, &status, 0);
	EXPECT_TRUE(WIFSIGNALED(status));
	close(ready[0]);
}

// Kills `icepath`, with which the helper that it tells of ends.
void expect_end_with(pid_t icepath, const Fd &told)
{
	pid_t helper = -1;
	std::vector<Fd> none;
	ASSERT_TRUE(channel::receive(told.get(), &helper, sizeof(helper), none, 10'000));
	const Fd pidfd = pidfd_of(helper);
	kill(icepath, SIGKILL);
	waitpid(icepath, nullptr, 0);
	pollfd end{pidfd.get(), POLLIN, 0};
	EXPECT_EQ(poll(&end, 1, 10'000), 1) << "it outlived icepath";
	syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0); // if it did
}

// Otherwise it would wait forever with what it holds.
TEST_F(RightsTest, LetAStoppedProcessGoOnOnceIcepathHasEnded)
{
	auto [told, teller] = channel::open_pair();
	const pid_t icepath = fork();
	if (icepath == 0) {
		std::optional<RootProcess> process;
		process.emplace("icepath-helper", nobody(), for_loading(),
						[](int socket, pid_t parent) { serve(socket, parent, 65534); });
		const pid_t helper = process->pid();
		kill(helper, SIGSTOP);
		channel::send(teller.get(), &helper, sizeof(helper));
		pause();
	}
	expect_end_with(icepath, told);
}

TEST(HelperFilter, LeavesReadingAndTakesTheRest)
{
	EXPECT_EQ(in_a_child([] {
				  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
				  allow_capturing_calls_only({});
				  return open("/proc/self/status", O_RDONLY | O_CLOEXEC) < 0 ? 1 : 0;
			  }),
			  0);
}

// EBADF: the kernel was asked.
TEST(HelperFilter, LeavesTimersToAHelperThatSamples)
{
	for (const bool samples : {false, true})
		EXPECT_EQ(in_a_child([samples] {
					  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
					  allow_capturing_calls_only({.perf_events = false, .samples = samples, .lists = false});
					  for (const auto what : {static_cast<unsigned long>(PERF_EVENT_IOC_ENABLE),
											  static_cast<unsigned long>(PERF_EVENT_IOC_DISABLE),
											  static_cast<unsigned long>(PERF_EVENT_IOC_PERIOD)})
						  if (ioctl(-1, what, 0) != -1 || errno != (samples ? EBADF : EPERM))
							  return 1;
					  return ioctl(-1, PERF_EVENT_IOC_SET_BPF, 0) == -1 && errno == EPERM ? 0 : 2;
				  }),
				  0)
			<< samples;
}

// A helper without its filter doesn't go on.
TEST(HelperFilter, ThatTheKernelRefusesIsAFailure)
{
	EXPECT_EQ(in_a_child([] {
				  if (!let_no_filter_be_set())
					  return 1;
				  try {
					  allow_capturing_calls_only({});
				  } catch (const RightsKept &) {
					  return 0;
				  }
				  return 2;
			  }),
			  0);
}

// It is a copy of icepath: whatever it throws, it mustn't go on with icepath's work.
TEST(HelperRights, AProcessThatCannotGiveThemUpDoesNothingElse)
{
	// Memory, because the copy has closed all descriptors.
	void *shared = mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(shared, MAP_FAILED);
	volatile bool &went_on = *static_cast<bool *>(shared);
	const pid_t self = getpid();
	try {
		const RootProcess process("icepath-test", Identity(), std::nullopt,
								  [](int, pid_t) { throw RightsKept("as if the kernel had refused"); });
	} catch (const RightsKept &) { // in the copy
	}
	if (getpid() != self) {
		went_on = true;
		_exit(0);
	}
	EXPECT_FALSE(went_on) << "a copy of this test went on";
	munmap(shared, sizeof(bool));
}

// Even if another process has obtained icepath's end of the socket.
TEST(HelperRights, EndWithIcepathThoughItsSocketStaysOpen)
{
	auto [ours, theirs] = channel::open_pair();
	auto [told, teller] = channel::open_pair();
	const pid_t icepath = fork();
	if (icepath == 0) {
		const pid_t self = getpid(); // the helper may start after its parent's end
		const pid_t helper = fork();
		if (helper == 0) {
			ours.reset();
			serve(theirs.get(), self, getuid());
			_exit(0);
		}
		channel::send(teller.get(), &helper, sizeof(helper));
		pause();
	}
	theirs.reset();
	expect_end_with(icepath, told);
}

TEST(HelperRights, EndAtOnceWhereIcepathHasEndedAlready)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t icepath = fork();
	if (icepath == 0)
		_exit(0);
	waitpid(icepath, nullptr, 0);
	const pid_t helper = fork();
	if (helper == 0) {
		serve(theirs.get(), icepath, getuid());
		_exit(0);
	}
	const Fd pidfd = pidfd_of(helper);
	pollfd end{pidfd.get(), POLLIN, 0};
	EXPECT_EQ(poll(&end, 1, 10'000), 1) << "nobody would ever end it";
	kill(helper, SIGKILL);
	waitpid(helper, nullptr, 0);
}

} // namespace
} // namespace icepath::privilege
