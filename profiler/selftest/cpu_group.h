// SPDX-License-Identifier: Apache-2.0
#pragma once
// A control group with limited CPU time per period. Root makes it; it stays usable after giving up root, because every
// file that it needs is open. Its keeper, a separate process, removes it: it stays user 0, has few rights
// (injector_rights.h), takes no requests, and waits for the end of the process that made the group, however that ends.
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "profiler/channel.h"
#include "profiler/selftest/cpu_hierarchy.h"

namespace icepath::selftest {

class CpuGroup {
public:
	// Removes groups that dead selftests left. Throws Failure(MachineCannot) with what is missing.
	CpuGroup(uint64_t quota_us, uint64_t period_us);
	~CpuGroup(); // removes the group, within 5 s, and moves its processes back
	CpuGroup(const CpuGroup &) = delete;
	CpuGroup &operator=(const CpuGroup &) = delete;

	// Adds a process of the group in which this one made the CpuGroup, so that it can be moved back. Throws
	// Failure(MachineCannot).
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
