// SPDX-License-Identifier: Apache-2.0
#include "cpuset/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace icepath::cpuset {
namespace {

std::string whom(pid_t tid) { return tid == 0 ? "this thread" : fmt::format("task {}", tid); }

Problem set_affinity(pid_t tid, const CpuList &cpus)
{
	const int last = static_cast<int>(cpus.empty() ? 0 : cpus.back());
	cpu_set_t *mask = CPU_ALLOC(last + 1);
	const size_t bytes = CPU_ALLOC_SIZE(last + 1);
	CPU_ZERO_S(bytes, mask);
	for (const uint32_t cpu : cpus)
		CPU_SET_S(cpu, bytes, mask);
	const int failed = sched_setaffinity(tid, bytes, mask);
	const int error = errno;
	CPU_FREE(mask);
	if (!failed)
		return std::nullopt;
	std::string reason = std::strerror(error);
	if (error == EINVAL)
		reason = "none of these CPUs is online and permitted by its cpuset";
	else if (error == EPERM)
		reason = "it belongs to another user, which takes CAP_SYS_NICE";
	else if (error == ESRCH)
		reason = "it has ended";
	return fmt::format("{} can't be moved to CPU {}: {}", whom(tid), format_cpulist(cpus), reason);
}

} // namespace

Problem pin(pid_t tid, uint32_t cpu)
{
	if (cpu > kMaxCpu)
		return fmt::format("{} can't be moved to CPU {}: no machine has it", whom(tid), cpu);
	return set_affinity(tid, {cpu});
}

Problem confine(pid_t tid, const CpuList &cpus) { return set_affinity(tid, cpus); }

Problem confine_process(const CpuList &cpus)
{
	// A thread that isn't moved yet may start another, which inherits the old mask: repeat until none is new.
	std::set<pid_t> moved;
	for (bool found = true; found;) {
		found = false;
		std::error_code error;
		for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
			 task.increment(error)) {
			const auto tid = static_cast<pid_t>(std::stol(task->path().filename().string()));
			if (!moved.insert(tid).second)
				continue;
			found = true;
			const Problem problem = set_affinity(tid, cpus);
			// A thread other than the caller may have ended meanwhile.
			if (problem && (tid == gettid() || std::filesystem::exists(task->path())))
				return problem;
		}
		if (error)
			return fmt::format("the threads of this process can't be listed: /proc/self/task: {}", error.message());
	}
	return std::nullopt;
}

} // namespace icepath::cpuset
