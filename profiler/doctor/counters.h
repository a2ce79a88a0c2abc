// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which counters a run's workers will have. They run as the invoking user, so it is that user who tries.
#include <cstdint>

#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

// Each 0 where it works, else the errno.
struct CounterTrial {
	int32_t hardware = 0;  // user and kernel mode
	int32_t user_mode = 0; // user mode only
	int32_t migrations = 0;
};

CounterTrial try_counters();
Check counters_check(const CounterTrial &trial);

} // namespace icepath::doctor
