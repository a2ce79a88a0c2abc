// SPDX-License-Identifier: Apache-2.0
#pragma once
// Workers under SCHED_FIFO: the right to it, and what becomes of the rest of the machine. See sched(7).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpuset/topology.h"

namespace icepath::cpuset {

// Lets this process and its children run under SCHED_FIFO with a priority up to `priority`, 1 to 99, and their
// watchdogs with one more. Call it as root.
// `stays_root`: workers will have root's rights, which suffice outside of middleware's user namespaces. Throws
// Failure(MachineCannot) if it isn't possible here.
void allow_fifo(int priority, bool stays_root);

struct FifoRights {
	bool sides = false, middleware = false; // which has a user namespace, where rights of root don't count
};
// What allow_fifo() could do for the lowest priority. Call it as root; what is tried is taken back at once.
FifoRights fifo_rights(bool stays_root);

// For threads that never sleep, under SCHED_FIFO on `cpus`. Returns what the kernel does to them, nothing if it lets
// them run without a pause. Throws Failure(MachineCannot) if no CPU would be left to the rest of the machine.
std::optional<std::string> fifo_without_sleep(const Machine &machine, const std::vector<uint32_t> &cpus);

} // namespace icepath::cpuset
