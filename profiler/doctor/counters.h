// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which counters a run's workers will have. Tried as the invoking user, because workers run as that user.
#include <cstdint>

#include "profiler/doctor/doctor.h"

namespace icepath::doctor {

// Each is 0 if it works, otherwise the errno.
struct CounterTrial {
	int32_t hardware = 0; // user and kernel mode
	int32_t user_mode = 0; // user mode only
	int32_t migrations = 0;
};

CounterTrial try_counters();
Check counters_check(const CounterTrial &trial);

} // namespace icepath::doctor
