// SPDX-License-Identifier: Apache-2.0
// What the root helper keeps of root, and whom it outlives: nobody.
#include "profiler/privilege/helper_rights.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/privilege/helper_filter.h"
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

// What `check` returns, as its exit status.
template <class Check> int in_a_child(Check check)
{
	const pid_t child = fork();
	if (child == 0)
		_exit(check());
	int status = -1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HelperRights, AreThoseOfCapturingAndNoOthers)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	EXPECT_EQ(in_a_child([] {
				  const uint64_t before = capabilities("CapPrm");
				  keep_rights_for_capturing();
				  const auto bit = [](int capability) { return uint64_t{1} << capability; };
				  const uint64_t kept = bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYS_NICE) | bit(CAP_SYS_PTRACE) |
										bit(CAP_SYS_ADMIN) | bit(CAP_SYSLOG);
				  int failed = 0;
				  failed |= capabilities("CapEff") != (before & kept) ? 1 : 0;
				  failed |= capabilities("CapPrm") != (before & kept) ? 2 : 0;
				  failed |= (capabilities("CapBnd") & ~kept) != 0 ? 4 : 0;
				  failed |= capabilities("CapInh") != 0 ? 8 : 0;
				  failed |= prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ? 16 : 0;
				  failed |= std::filesystem::current_path() != "/" ? 32 : 0;
				  failed |= std::getenv("PATH") != nullptr ? 64 : 0;
				  failed |= getsid(0) != getpid() ? 128 : 0;
				  return failed;
			  }),
			  0);
}

TEST(HelperFilter, LeavesReadingAndTakesTheRest)
{
	EXPECT_EQ(in_a_child([] {
				  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
				  if (!allow_capturing_calls_only())
					  return 1;
				  const auto is_refused = [](long result) { return result < 0 && errno == EPERM; };
				  int failed = 0;
				  failed |= open("/proc/self/status", O_RDONLY | O_CLOEXEC) < 0 ? 2 : 0;
				  failed |= !is_refused(open("/dev/null", O_WRONLY | O_CLOEXEC)) ? 4 : 0;
				  failed |= !is_refused(open("/tmp/icepath-test-of-filter", O_RDONLY | O_CREAT, 0600)) ? 8 : 0;
				  failed |= !is_refused(execl("/bin/true", "true", nullptr)) ? 16 : 0;
				  failed |= !is_refused(ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr)) ? 32 : 0;
				  failed |= !is_refused(unshare(CLONE_NEWNS)) ? 64 : 0;
				  failed |= !is_refused(fork()) ? 128 : 0;
				  return failed;
			  }),
			  0);
}

// Whoever else may have got hold of icepath's end of the socket.
TEST(HelperRights, EndWithIcepathThoughItsSocketStaysOpen)
{
	auto [ours, theirs] = channel::open_pair();
	auto [told, teller] = channel::open_pair();
	const pid_t icepath = fork();
	if (icepath == 0) {
		const pid_t self = getpid(); // the helper may begin after its parent's end
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
	pid_t helper = -1;
	std::vector<Fd> none;
	ASSERT_TRUE(channel::receive(told.get(), &helper, sizeof(helper), none, 10'000));
	const Fd pidfd = pidfd_of(helper);
	kill(icepath, SIGKILL);
	waitpid(icepath, nullptr, 0);
	pollfd end{pidfd.get(), POLLIN, 0};
	EXPECT_EQ(poll(&end, 1, 10'000), 1) << "it outlived icepath";
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
