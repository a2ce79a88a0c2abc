// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control groups that limit CPU time: where they are, the selftest's own, and those that a dead selftest left.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/channel.h"

namespace icepath::selftest {

struct CpuHierarchy {
	std::string path; // mount point
	bool v2 = false;
};

// cgroup v2 or v1, whichever has the cpu controller. Throws Failure(MachineCannot).
CpuHierarchy find_cpu_hierarchy();

// From /proc/PID/cgroup, relative to the hierarchy's root. Empty: the process has ended.
std::string group_of(pid_t process, const CpuHierarchy &hierarchy);

// Prefix of selftests' groups. A group whose directory isn't locked (flock(2)) was left by a dead selftest.
inline constexpr const char *kGroupPrefix = "icepath-selftest-";

// Control groups are all that a selftest leaves on the machine if it is killed together with the processes that would
// clean up. Everything else that it injects ends with its processes: descriptors, and the workers' network namespaces.
//
// As root. Removes the groups of dead selftests, and none of a living one. Returns a sentence for each failure.
std::vector<std::string> take_back_leftover_groups();

// A control group with limited CPU time per period. Root makes it; it stays usable after giving up root, because every
// file that it needs is open. Its keeper, a separate process, removes it: it stays user 0, has few rights
// (injector_rights.h), takes no requests, and waits for the end of the process that made the group, however that ends.
class CpuGroup {
public:
	// Removes groups that dead selftests left. Throws Failure(MachineCannot) with what is missing.
	CpuGroup(uint64_t quota_us, uint64_t period_us);
	~CpuGroup(); // removes the group, within 5 s, and moves its processes back
	CpuGroup(const CpuGroup &) = delete;
	CpuGroup &operator=(const CpuGroup &) = delete;

	// Adds a process of the group in which this one made the CpuGroup, so that it can be moved back, or of the root
	// group. Throws Failure(MachineCannot).
	void add(pid_t process);
	void put_all_back() noexcept;

private:
	void make_folder();
	void limit(uint64_t quota_us, uint64_t period_us) const;
	void fork_keeper();
	void end_keeper();
	[[noreturn]] void keep(int maker) const;

	const CpuHierarchy hierarchy_;
	const std::string home_; // this process's group
	std::string name_;
	Fd root_, folder_; // `folder_` is locked while this process lives
	Fd members_, home_members_; // open for writing
	Fd keeper_waits_for_, keeper_pidfd_;
	pid_t keeper_ = -1;
};

} // namespace icepath::selftest
