// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pins the calling thread to one CPU, with icepath's own rights.
#include <sched.h>

#include <cstdint>

namespace icepath::run {

inline bool stay_on(uint32_t cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	if (!set)
		return false;
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
	const bool stays = sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), set) == 0;
	CPU_FREE(set);
	return stays;
}

} // namespace icepath::run
