// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pass of `icepath calibrate`: blocks of messages through each queue, with and without watchpoints, in ABBA order.
// Watchpoints distort its times, so it reports none.
#include "profiler/calibrate/calibration.h"

namespace icepath::calibrate {

struct Pass {
	uint32_t cpu = 0; // the calling thread gets pinned to it
	uint32_t blocks = 40; // per queue and size, half of them watched; a multiple of 4
	uint32_t messages = 30; // per block
};

// Needs CAP_BPF and CAP_PERFMON. Takes some seconds. Throws Failure(MachineCannot). A queue not placed has `why_not`.
std::vector<CalibratedTarget> calibrate(const Pass &pass);

} // namespace icepath::calibrate
