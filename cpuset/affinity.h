// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets the CPUs of tasks. The effect ends with the tasks.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cpuset/cpulist.h"

namespace icepath::cpuset {

// One sentence: what failed, for which task, and why; nothing: success.
using Problem = std::optional<std::string>;

// `tid` 0: the calling thread. Needs CAP_SYS_NICE for other users' tasks.
[[nodiscard]] Problem pin(pid_t tid, uint32_t cpu);

// The same for several CPUs.
[[nodiscard]] Problem confine(pid_t tid, const CpuList &cpus);

// Moves every thread of the calling process. Later threads inherit it.
[[nodiscard]] Problem confine_process(const CpuList &cpus);

} // namespace icepath::cpuset
