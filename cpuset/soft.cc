// SPDX-License-Identifier: Apache-2.0
#include "cpuset/soft.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace icepath::cpuset {
namespace {

// CAP_IPC_LOCK locks memory beyond RLIMIT_MEMLOCK: mlock(2).
bool may_exceed_limit()
{
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, 2> data{};
	return syscall(SYS_capget, &header, data.data()) == 0 && (data[0].effective >> CAP_IPC_LOCK & 1) != 0;
}

// Lets this process and its children lock all of their memory.
Step allow_locked_memory(bool stays_root)
{
	Step step{"memory", StepState::Done, "workers' memory is locked", ""};
	rlimit limit{};
	getrlimit(RLIMIT_MEMLOCK, &limit);
	const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
	if (limit.rlim_cur == RLIM_INFINITY || setrlimit(RLIMIT_MEMLOCK, &all) == 0)
		return step;
	const int error = errno;
	if (stays_root && may_exceed_limit()) {
		// In a user namespace, which middleware has, the capability doesn't count.
		step.found =
			fmt::format("workers' memory is locked; where middleware's is more than RLIMIT_MEMLOCK, {} KiB, it isn't",
						limit.rlim_cur / 1024);
		return step;
	}
	// With a limit that is almost reached, a growing stack would end the process, so nothing is locked.
	step.state = StepState::NotPossible;
	step.found = fmt::format("RLIMIT_MEMLOCK stays at {} KiB: {}", limit.rlim_cur / 1024, std::strerror(error));
	step.remedy =
		"raise memlock in /etc/security/limits.conf, or start icepath with sudo where root has CAP_SYS_RESOURCE";
	return step;
}

} // namespace

Soft::Soft(Level level, bool idle_states, bool stays_root) : level_(level)
{
	if (level_ == Level::None)
		return;
	if (!idle_states)
		awake_.emplace();
	memory_ = allow_locked_memory(stays_root);
}

std::vector<Step> Soft::steps() const
{
	std::vector<Step> steps = {{"pinning", StepState::Done, "each side has its CPU", ""}};
	if (level_ == Level::None)
		return steps;
	steps.push_back(awake_ ? awake_->step()
						   : Step{"idle_states", StepState::Left, "the machine's own, as asked for", ""});
	steps.push_back(memory_);
	return steps;
}

} // namespace icepath::cpuset
