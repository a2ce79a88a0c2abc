// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injector_rights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/selftest/plugin/stretch.h"

namespace icepath::selftest {
namespace {

// capabilities(7). Root loads BPF programs before.
const privilege::Capabilities kForInjecting = {
	CAP_SYS_ADMIN, // setns() and unshare() of network namespaces; perf_event_open() and bpf() need it too
	CAP_SYS_NICE, // SCHED_FIFO and nice -20
	CAP_SYS_PTRACE, // the namespaces of the user's processes, and /proc/PID/status under hidepid
	CAP_NET_ADMIN, // last: a device's filter, if the kernel has no links for that (TCX came with Linux 6.6)
};

void must(bool done, const char *what)
{
	if (!done)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("the injecting process can't give up rights that it doesn't need ({}): {}", what,
								  std::strerror(errno)));
}

// Where the kernel shows the program's initial environment to others (proc_pid_stat(5), fields 50 and 51).
std::span<char> initial_environment()
{
	std::ifstream file("/proc/self/stat");
	std::string text;
	std::getline(file, text);
	std::istringstream fields(text.substr(text.rfind(')') + 1)); // from the third field on
	std::string skipped;
	for (int field = 3; field < 50; field++)
		fields >> skipped;
	uintptr_t begin = 0, end = 0;
	if (!(fields >> begin >> end) || end < begin)
		return {};
	return {reinterpret_cast<char *>(begin), end - begin};
}

void forget_environment()
{
	const char *stretch = std::getenv(kStretchVariable);
	const std::string kept = stretch ? stretch : "1";
	clearenv();
	std::ranges::fill(initial_environment(), 0);
	must(setenv(kStretchVariable, kept.c_str(), 1) == 0, "setenv");
}

} // namespace

void leave_the_users_session()
{
	must(setsid() >= 0, "setsid");
	must(chdir("/") == 0, "chdir");
	Fd nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
	for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
		must(nowhere && dup2(nowhere.get(), standard) == standard, "/dev/null");
	if (nowhere.get() <= STDERR_FILENO) // a standard descriptor was closed
		nowhere.release();
	forget_environment();
	const rlimit no_core{0, 0};
	must(setrlimit(RLIMIT_CORE, &no_core) == 0, "setrlimit");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
}

void keep_rights_for_injecting(bool with_filters_of_devices, const privilege::Identity &user, pid_t icepath)
{
	const char *stretch = std::getenv(kStretchVariable);
	const std::string kept = stretch ? stretch : "1";
	privilege::keep_only({{kForInjecting.begin(), kForInjecting.end() - (with_filters_of_devices ? 0 : 1)}}, user,
						 icepath);
	must(setenv(kStretchVariable, kept.c_str(), 1) == 0, "setenv");
}

void keep_rights_for_removing() { privilege::keep_as_root({CAP_DAC_OVERRIDE}); }

} // namespace icepath::selftest
