// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/rights.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
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
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {
namespace {

void must(bool done, const char *what)
{
	if (!done)
		throw RightsKept(
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

void leave_surroundings()
{
	must(chdir("/") == 0, "chdir");
	must(clearenv() == 0, "clearenv");
	const rlimit no_core{0, 0};
	must(setrlimit(RLIMIT_CORE, &no_core) == 0, "setrlimit");
}

// Last, because a change of user resets these.
void belong_to(pid_t icepath)
{
	must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "dumpable");
	must(prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0) == 0, "pdeathsig");
	if (getppid() != icepath)
		_exit(0); // icepath ended meanwhile
}

// Removes handlers, masks and timers from before the program was executed. A terminal's signals are ignored
// (ignore_terminal()).
void take_no_signals()
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} standard{}; // rt_sigaction(2): signal(3) refuses the C library's own signals, which may be ignored as well
	for (int number = 1; number < NSIG; number++)
		syscall(SYS_rt_sigaction, number, &standard, nullptr, sizeof(standard.mask)); // fails for SIGKILL and SIGSTOP
	ignore_terminal();
	signal(SIGPIPE, SIG_IGN);
	sigset_t none;
	must(sigemptyset(&none) == 0 && sigprocmask(SIG_SETMASK, &none, nullptr) == 0, "signal mask");
	const itimerval off{};
	for (const auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
		must(setitimer(timer, &off, nullptr) == 0, "timers");
}

bool has_effective(const Capabilities &wanted)
{
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
	return syscall(SYS_capget, &header, sets.data()) == 0 && std::ranges::all_of(wanted, [&](int capability) {
			   return (sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
		   });
}

// In any other one, a file's capabilities have no effect outside of it.
bool is_in_first_user_namespace()
{
	std::ifstream map("/proc/self/uid_map");
	uint64_t inside = 0, outside = 0, count = 0;
	return map >> inside >> outside >> count && inside == 0 && outside == 0 && count == UINT32_MAX;
}

// Why the kernel gave a program no capabilities, or fewer than its file has.
std::string why_without_capabilities()
{
	constexpr const char *kProgram = "/proc/self/exe";
	std::array<char, 64> bytes{};
	struct statvfs where{};
	std::string why = "this process is traced";
	if (!is_in_first_user_namespace())
		why = "this process is in a user namespace";
	else if (getxattr(kProgram, "security.capability", bytes.data(), bytes.size()) < 0)
		why = "its file has none (sudo icepath setup --caps)";
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		why = "no_new_privs is set, as by a container or a service manager";
	else if (prctl(PR_CAPBSET_READ, CAP_BPF, 0, 0, 0) != 1 || prctl(PR_CAPBSET_READ, CAP_PERFMON, 0, 0, 0) != 1)
		why = "the bounding set lacks them, as in a container";
	else if (statvfs(kProgram, &where) == 0 && (where.f_flag & ST_NOSUID) != 0)
		why = "its file system is mounted with nosuid";
	return "it lacks CAP_BPF and CAP_PERFMON: " + why;
}

} // namespace

void keep_as_root(const Capabilities &kept)
{
	leave_surroundings();
	must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "dumpable");
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
	leave_surroundings();
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
	belong_to(icepath);
}

void keep_only_of_file(int socket, pid_t icepath)
{
	// The kernel sets it for a program with file capabilities. Without it, the caller chose the libraries and the
	// environment, and so perhaps what this process does.
	if (getauxval(AT_SECURE) == 0)
		throw Failure(ExitCode::MachineCannot, why_without_capabilities());
	must(getuid() == geteuid() && getgid() == getegid(), "it was started by a set-uid program");
	must(close_all_but({socket}), "closing descriptors");
	take_no_signals();
	umask(S_IRWXG | S_IRWXO);
	setsid(); // fails only if this process leads a session already
	leave_surroundings();
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0, "ambient capabilities");
	limit_capabilities(for_members());
	if (!has_effective(for_members()) || !is_in_first_user_namespace())
		throw Failure(ExitCode::MachineCannot, why_without_capabilities());
	if (proc_hides_processes())
		throw Failure(ExitCode::MachineCannot, "/proc hides processes here (hidepid), so workers can't be examined "
											   "without root: run `sudo icepath run`");
	belong_to(icepath);
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
			CAP_SYS_ADMIN); // without it they attach but run no program, on 6.1 and 6.12 (tests/vm, kprobe)
	return needed;
}

Capabilities for_members() { return {CAP_BPF, CAP_PERFMON}; }

Rights for_spaces()
{
	return {{CAP_SYS_ADMIN, CAP_SYS_CHROOT, // mounts and namespaces
			 CAP_NET_ADMIN}, // the loopback device of a new one
			true};
}

} // namespace icepath::privilege
