// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where tasks run. Nothing here outlives the tasks that it is done to.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cpuset/cpulist.h"

namespace icepath::cpuset {

// A sentence that says what failed, on which task and why; nothing: it is done.
using Problem = std::optional<std::string>;

// `tid` 0 is the calling thread. Needs CAP_SYS_NICE for tasks of others.
[[nodiscard]] Problem pin(pid_t tid, uint32_t cpu);

// Moves every thread of the calling process. Threads started later inherit it.
[[nodiscard]] Problem confine_process(const CpuList &cpus);

} // namespace icepath::cpuset
