// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/journal_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "profiler/privilege/leave_caller.h"

namespace icepath::isolation {
namespace {

// By their names, from /proc/PID/status; empty: it has ended.
std::map<std::string, std::string> status_of(pid_t process)
{
	std::map<std::string, std::string> fields;
	std::ifstream status(fmt::format("/proc/{}/status", process));
	for (std::string line; std::getline(status, line);)
		if (const size_t colon = line.find(":\t"); colon != std::string::npos)
			fields[line.substr(0, colon)] = line.substr(colon + 2);
	return fields;
}

// The processes that have locked a file with this number by flock(2). A file system may show another device in stat(2)
// than in /proc/locks, so files are compared by their numbers alone, and any user may have locked a file of one's own
// that has the same number.
std::vector<pid_t> lockers_of(ino_t number)
{
	std::vector<pid_t> lockers;
	std::ifstream locks("/proc/locks");
	for (std::string line; std::getline(locks, line);) {
		std::istringstream words(line);
		std::string ordinal, kind, how, mode, file;
		pid_t process = 0;
		// A waiting process has "->" in the place of the kind (lock_get_status() of fs/locks.c).
		if (words >> ordinal >> kind >> how >> mode >> process >> file && kind == "FLOCK" && mode == "WRITE" &&
			file.ends_with(fmt::format(":{}", number)))
			lockers.push_back(process);
	}
	return lockers;
}

// Nothing: it is no process of root's that is called so.
std::optional<Holder> as_holder(pid_t process)
{
	auto fields = status_of(process);
	Holder holder;
	holder.pid = process;
	holder.name = fields["Name"];
	if (!holder.name.starts_with("icepath") || fields["Uid"] != "0\t0\t0\t0")
		return std::nullopt;
	std::istringstream(fields["PPid"]) >> holder.parent;
	for (const char *kind : {"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"}) {
		uint64_t count = 0;
		std::istringstream(fields[kind]) >> count;
		holder.switches += count;
	}
	return holder;
}

} // namespace

std::optional<Holder> holder_of(const Fd &journal)
{
	struct stat status{};
	if (fstat(journal.get(), &status))
		return std::nullopt;
	for (const pid_t process : lockers_of(status.st_ino))
		if (const auto holder = as_holder(process))
			return holder;
	return std::nullopt;
}

void end_holder(const Fd &journal, pid_t holder)
{
	// No holder starts a process, so the lock ends with it: if the lock is still its after its pidfd was opened, the
	// pidfd is of no process that got its number later.
	const Fd pidfd = pidfd_of(holder);
	const auto still = holder_of(journal);
	if (!pidfd || !still || still->pid != holder)
		return;
	syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
	(void)privilege::move_to_root_groups(holder); // in a frozen group of cgroup v1 it would not end
}

} // namespace icepath::isolation
