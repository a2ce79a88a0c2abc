// SPDX-License-Identifier: Apache-2.0
#pragma once
// A control group that may use so much CPU time in each period: of cgroup v2 or v1, whichever has the cpu controller.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace icepath::selftest {

class CpuGroup {
public:
	// Throws Failure(MachineCannot) with what is missing.
	CpuGroup(uint64_t quota_us, uint64_t period_us);
	~CpuGroup(); // puts everybody back where it was, and takes the group away
	CpuGroup(const CpuGroup &) = delete;
	CpuGroup &operator=(const CpuGroup &) = delete;

	void add(pid_t process);

private:
	void find_place();
	std::string group_of(pid_t process) const; // as a folder
	bool v2_ = false;
	std::string root_, folder_;
	std::map<pid_t, std::string> before_;
};

} // namespace icepath::selftest
