// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits of the kernel that `--tune` raises for the length of a run. Buffers of sockets and huge pages are the whole
// machine's: the keeper raises them, by the journal. Limits of message queues are of the run's own IPC namespace, and
// end with it.
#include <cstdint>
#include <string_view>
#include <vector>

#include "cpuset/step.h"
#include "profiler/isolation/journalled_changes.h"

namespace icepath::isolation {

struct Limit {
	const char *name; // sysctl's
	const char *knob; // of knobs.h; nullptr: it is of the IPC namespace
	uint64_t most; // that a user may ask for
};

inline constexpr uint64_t kHalfOfMemory = UINT64_MAX; // as huge pages, of what is available then
inline constexpr uint64_t kMostSocketBytes = uint64_t{1} << 30;

inline constexpr Limit kLimits[] = {
	{"net.core.rmem_max", "rmem_max", kMostSocketBytes},
	{"net.core.wmem_max", "wmem_max", kMostSocketBytes},
	{"net.core.rmem_default", "rmem_default", kMostSocketBytes},
	{"net.core.wmem_default", "wmem_default", kMostSocketBytes},
	{"vm.nr_hugepages", "hugepages", kHalfOfMemory},
	// The kernel's own bounds: HARD_MSGMAX, HARD_MSGSIZEMAX and HARD_QUEUESMAX of include/linux/ipc_namespace.h.
	{"fs.mqueue.msg_max", nullptr, 65536},
	{"fs.mqueue.msgsize_max", nullptr, uint64_t{16} << 20},
	{"fs.mqueue.queues_max", nullptr, 1024},
};

// A wish for one of kLimits. Part of a request to the keeper.
struct Tuning {
	uint32_t limit; // its index
	uint32_t reserved;
	uint64_t value; // at least so much
};

bool is_of_the_machine(const Tuning &tuning);
bool is_allowed(const Tuning &tuning); // of the list, and not more than it allows

// Raises limits of the machine. Each step has its limit's name; a limit that is higher already stays.
std::vector<cpuset::Step> tune(Changes &changes, const std::vector<Tuning> &tunings);

// Raises the others, as root of the IPC namespace. `is_own`: it is the run's own; otherwise nothing is changed.
std::vector<cpuset::Step> tune_ipc_namespace(const std::vector<Tuning> &tunings, bool is_own);

} // namespace icepath::isolation
