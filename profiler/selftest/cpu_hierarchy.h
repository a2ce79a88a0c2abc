// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where control groups that limit CPU time are, and which of them are the selftest's.
#include <sys/types.h>

#include <string>

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

} // namespace icepath::selftest
