// SPDX-License-Identifier: Apache-2.0
#pragma once
// A control group that may use so much CPU time in each period. Root makes it; who has given root up by then can use it, as all that
// takes is open. Who takes it away is a process of its own (its keeper): that stays user 0, can do little (injector_rights.h), is
// asked nothing, and waits for the end of the process that made the group, whatever ends it.
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "profiler/channel.h"
#include "profiler/selftest/cpu_hierarchy.h"

namespace icepath::selftest {

class CpuGroup {
public:
	// Throws Failure(MachineCannot) with what is missing. Groups that dead selftests left are taken away first.
	CpuGroup(uint64_t quota_us, uint64_t period_us);
	~CpuGroup(); // gone with everybody back where they were, or within 5 s if somebody in it is slow to end
	CpuGroup(const CpuGroup &) = delete;
	CpuGroup &operator=(const CpuGroup &) = delete;

	// A process of the group in which this one was when it made the group, so that it can be put back. Throws Failure(MachineCannot).
	void add(pid_t process);
	void put_all_back() noexcept;

private:
	void make_folder();
	void limit(uint64_t quota_us, uint64_t period_us) const;
	void fork_keeper();
	void end_keeper();
	[[noreturn]] void keep(int maker) const;

	const CpuHierarchy hierarchy_;
	const std::string home_; // the group of this process
	std::string name_;
	Fd root_, folder_; // `folder_` is locked as long as this process lives
	Fd members_, home_members_; // to be written to
	Fd keeper_waits_for_, keeper_pidfd_;
	pid_t keeper_ = -1;
};

} // namespace icepath::selftest
