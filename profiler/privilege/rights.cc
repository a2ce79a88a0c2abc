// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/rights.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

void must(bool done, const char *what)
{
	if (!done)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("a root process of icepath can't give up rights that it doesn't need ({}: {}), so it ends",
						what, std::strerror(errno)));
}

// Whether /proc shows a process to its own user alone (proc(5), hidepid).
bool proc_hides_processes()
{
	std::ifstream mounts("/proc/self/mounts");
	for (std::string line; std::getline(mounts, line);)
		if (line.find(" /proc proc ") != std::string::npos && line.find("hidepid=") != std::string::npos &&
			line.find("hidepid=0") == std::string::npos && line.find("hidepid=off") == std::string::npos)
			return true;
	return false;
}

// Prevents gaining other privileges, by executing a program or in any other way.
void gain_nothing_but(const Capabilities &kept)
{
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (std::ranges::find(kept, capability) == kept.end())
			must(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0, "bounding set");
	must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0, "ambient capabilities");
}

} // namespace

void keep_as_root(const Capabilities &kept)
{
	must(setgroups(0, nullptr) == 0, "setgroups");
	gain_nothing_but(kept);
	limit_capabilities(kept);
}

void limit_capabilities(const Capabilities &kept)
{
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
	must(syscall(SYS_capget, &header, sets.data()) == 0, "capget");
	std::array<__u32, _LINUX_CAPABILITY_U32S_3> wanted{};
	for (const int capability : kept)
		wanted[CAP_TO_INDEX(capability)] |= CAP_TO_MASK(capability);
	for (size_t i = 0; i < sets.size(); i++) {
		sets[i].permitted &= wanted[i];
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	must(syscall(SYS_capset, &header, sets.data()) == 0, "capset");
}

void keep_only(const Rights &kept, const Identity &user, pid_t icepath)
{
	setsid(); // fails only if this process leads a session already
	must(chdir("/") == 0, "chdir");
	must(clearenv() == 0, "clearenv");
	const rlimit no_core{0, 0};
	must(setrlimit(RLIMIT_CORE, &no_core) == 0, "setrlimit");
	gain_nothing_but(kept.capabilities);
	must(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0, "keepcaps"); // a change from 0 to another user would clear them
	const std::vector<gid_t> groups = kept.becomes_user ? user.groups : std::vector<gid_t>();
	must(setgroups(groups.size(), groups.data()) == 0, "setgroups");
	must(setresgid(kept.becomes_user ? user.gid : kOwnGroup, kOwnGroup, kOwnGroup) == 0, "setresgid");
	const uid_t own = kOwnGroup + 1 + static_cast<uid_t>(getpid());
	const uid_t real = user.uid == 0 ? own : user.uid; // 0 could be regained, and root may end it anyway
	must(setresuid(real, own, own) == 0, "setresuid");
	must(prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) == 0, "keepcaps");
	limit_capabilities(kept.capabilities);
	must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "dumpable");
	// Last, because a change of user resets it.
	must(prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0) == 0, "pdeathsig");
	if (getppid() != icepath)
		_exit(0); // icepath ended meanwhile
}

void become_real_user()
{
	must(setresgid(getgid(), getgid(), getgid()) == 0, "setresgid");
	must(setresuid(getuid(), getuid(), getuid()) == 0, "setresuid");
	limit_capabilities({});
	must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "pdeathsig");
}

Rights for_loading()
{
	Capabilities needed = for_capturing(true);
	needed.push_back(CAP_SYSLOG); // addresses in /proc/kallsyms, to find kprobes and to name sampled functions
	return {needed};
}

Capabilities for_capturing(bool kprobes)
{
	// Since Linux 5.8, BPF and PERFMON together load tracing programs and open their events (bpf_token_capable(),
	// perfmon_capable()).
	Capabilities needed = {CAP_BPF, CAP_PERFMON};
	if (proc_hides_processes())
		needed.push_back(CAP_SYS_PTRACE); // /proc/PID/status of a worker
	if (kprobes)
		needed.push_back(
			CAP_SYS_ADMIN); // without it they attach and run no program, on 6.1 and 6.12 (tests/vm, kprobe)
	return needed;
}

Rights for_spaces()
{
	return {{CAP_SYS_ADMIN, CAP_SYS_CHROOT, // mounts and namespaces
			 CAP_NET_ADMIN}, // the loopback device of a new one
			true};
}

} // namespace icepath::privilege
