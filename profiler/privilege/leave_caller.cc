// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/leave_caller.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "profiler/channel.h"

namespace icepath::privilege {
namespace {

// Throws this as the reason.
struct StillHeld {
	std::string why;
};

void ensure(bool done, const char *what)
{
	if (!done)
		throw StillHeld{fmt::format("{}: {}", what, std::strerror(errno))};
}

int write_text(const std::string &path, const std::string &text)
{
	const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
	if (!file)
		return errno;
	return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

bool has_all_words(const std::string &text, const std::string &wanted)
{
	std::istringstream words(wanted);
	for (std::string word; std::getline(words, word, ',');)
		if (("," + text + ",").find("," + word + ",") == std::string::npos)
			return false;
	return true;
}

// Where the root group of a hierarchy is mounted (proc_pid_mountinfo(5)); empty: nowhere that this process can see.
// `controllers`: as in /proc/PID/cgroup; empty: cgroup v2.
std::string root_group_of(const std::string &controllers)
{
	std::ifstream mounts("/proc/self/mountinfo");
	for (std::string line; std::getline(mounts, line);) {
		const size_t dash = line.find(" - ");
		if (dash == std::string::npos)
			continue;
		std::istringstream where(line.substr(0, dash)), what(line.substr(dash + 3));
		std::string id, parent, device, root, folder, type, source, options;
		where >> id >> parent >> device >> root >> folder;
		what >> type >> source >> options;
		if (root == "/" &&
			(controllers.empty() ? type == "cgroup2" : type == "cgroup" && has_all_words(options, controllers)))
			return folder;
	}
	return "";
}

struct Membership {
	std::string controllers, group;
};

// The groups of a process that aren't the root of their hierarchy (cgroups(7)).
std::vector<Membership> groups_of(pid_t process)
{
	std::vector<Membership> groups;
	std::ifstream lines(fmt::format("/proc/{}/cgroup", process));
	for (std::string line; std::getline(lines, line);) {
		const size_t first = line.find(':'), second = line.find(':', first + 1);
		if (second != std::string::npos && line.substr(second + 1) != "/")
			groups.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
	}
	return groups;
}

// A limit that its caller may have lowered can end a process (SIGXCPU, SIGXFSZ), or make its calls fail.
struct Limit {
	__rlimit_resource_t resource;
	const char *name;
	rlim_t least;
};

constexpr Limit kLimits[] = {
	{RLIMIT_CPU, "CPU time (ulimit -Ht)", RLIM_INFINITY},
	{RLIMIT_RTTIME, "real-time CPU time (ulimit -HR)", RLIM_INFINITY},
	{RLIMIT_FSIZE, "file size (ulimit -Hf)", RLIM_INFINITY},
	{RLIMIT_AS, "virtual memory (ulimit -Hv)", RLIM_INFINITY},
	{RLIMIT_DATA, "data size (ulimit -Hd)", RLIM_INFINITY},
	{RLIMIT_STACK, "stack size (ulimit -Hs)", rlim_t{8} << 20},
	{RLIMIT_NOFILE, "open files (ulimit -Hn)", 4096}, // the machine's interrupts, and what else it restores
};

void take_limits()
{
	for (const Limit &limit : kLimits) {
		rlimit old{};
		ensure(getrlimit(limit.resource, &old) == 0, limit.name);
		const rlim_t most = std::max(old.rlim_max, limit.least); // RLIM_INFINITY is the highest
		const rlimit wanted{most, most};
		ensure(setrlimit(limit.resource, &wanted) == 0, limit.name);
	}
}

void leave_session()
{
	setsid(); // fails only if this process leads a session already
	Fd nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
	ensure(static_cast<bool>(nowhere), "/dev/null");
	// Whoever has a terminal open may be killed with it (do_SAK() of drivers/tty/tty_io.c).
	for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
		ensure(dup2(nowhere.get(), standard) == standard, "/dev/null");
	if (nowhere.get() <= STDERR_FILENO) // a standard descriptor was closed
		nowhere.release();
}

void take_default_scheduling()
{
	const sched_param none{};
	ensure(sched_setscheduler(0, SCHED_OTHER, &none) == 0, "scheduling class");
	ensure(setpriority(PRIO_PROCESS, 0, 0) == 0, "nice value");
	constexpr int kOfProcess = 1; // IOPRIO_WHO_PROCESS; linux/ioprio.h isn't C++
	(void)syscall(SYS_ioprio_set, kOfProcess, 0, 0); // none: by the nice value
	// The kernel takes as much of a mask as it has CPUs.
	const std::vector<unsigned long> all(1024, ~0ul);
	ensure(syscall(SYS_sched_setaffinity, 0, all.size() * sizeof(all[0]), all.data()) >= 0, "CPUs");
	constexpr unsigned long kSlackNs = 50'000; // init's
	ensure(prctl(PR_SET_TIMERSLACK, kSlackNs, 0, 0, 0) == 0, "timer slack");
	(void)syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0); // fails only where there are no memory policies
}

// Returns what remains. Below the lowest value that a process with CAP_SYS_RESOURCE has set in it or in an ancestor,
// only such a process can go (__set_oom_adj() of fs/proc/base.c).
std::string survive_lack_of_memory()
{
	constexpr const char *kFile = "/proc/self/oom_score_adj";
	if (write_text(kFile, "-1000") == 0)
		return "";
	ensure((errno = write_text(kFile, "0")) == 0, kFile);
	return "the kernel may end the process that restores the machine where memory runs out, since root lacks "
		   "CAP_SYS_RESOURCE here";
}

} // namespace

std::string move_to_root_groups(pid_t process)
{
	for (const Membership &one : groups_of(process)) {
		const std::string root = root_group_of(one.controllers);
		const int error = root.empty() ? ENOENT : write_text(root + "/cgroup.procs", std::to_string(process));
		if (error != 0)
			return fmt::format("the root of its control group {}:{} can't be entered: {}", one.controllers, one.group,
							   root.empty() ? "it isn't mounted" : std::strerror(error));
	}
	const auto rest = groups_of(process);
	return rest.empty() ? "" : fmt::format("it stays in the control group {}", rest.front().group);
}

Left leave_caller()
{
	Left left;
	try {
		if (const std::string why = move_to_root_groups(getpid()); !why.empty())
			throw StillHeld{why};
		leave_session();
		take_limits();
		take_default_scheduling();
		left.risk = survive_lack_of_memory();
		umask(S_IWGRP | S_IWOTH);
	} catch (const StillHeld &held) {
		left.why_not = held.why;
	}
	return left;
}

} // namespace icepath::privilege
