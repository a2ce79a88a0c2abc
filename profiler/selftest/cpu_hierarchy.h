// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where control groups are that limit CPU time, and which of them are the selftest's.
#include <sys/types.h>

#include <string>

namespace icepath::selftest {

struct CpuHierarchy {
	std::string path; // where it is mounted
	bool v2 = false;
};

// cgroup v2 or v1, whichever has the cpu controller. Throws Failure(MachineCannot).
CpuHierarchy find_cpu_hierarchy();

// As /proc/PID/cgroup tells it, from the hierarchy's root on. Empty: the process has ended.
std::string group_of(pid_t process, const CpuHierarchy &hierarchy);

// The groups of selftests begin with it. Whose directory nobody has locked (flock(2)) is one of a dead selftest.
inline constexpr const char *kGroupPrefix = "icepath-selftest-";

} // namespace icepath::selftest
