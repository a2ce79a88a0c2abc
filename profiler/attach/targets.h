// SPDX-License-Identifier: Apache-2.0
#pragma once
// The running programs that the user names.
#include <sys/types.h>

#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/attached.h"

namespace icepath::attach {

struct OpenTarget {
	Fd pidfd;
	model::Target target;
};

// Throws Failure(Usage) if a process doesn't exist, isn't the first thread of one, or is a 32-bit program on a 64-bit
// kernel.
std::vector<OpenTarget> open_targets(const std::vector<pid_t> &processes);

// The processes whose name (comm, proc(5)) matches the shell pattern, without those that such a one has started, and
// without this one and `own` (0: none), a child that isn't its program yet. Throws Failure(Usage) if there is none.
std::vector<pid_t> processes_named(const std::string &pattern, pid_t own = 0);

bool has_ended(const OpenTarget &target);

} // namespace icepath::attach
