// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pass of `icepath calibrate`: blocks of messages through each queue, watched and not in ABBA order. Its times are spoilt by
// the watching and are told to nobody.
#include "profiler/calibrate/calibration.h"

namespace icepath::calibrate {

struct Pass {
	uint32_t cpu = 0; // the calling thread is pinned to it
	uint32_t blocks = 40; // of each queue and size, half of them watched; a multiple of 4
	uint32_t messages = 30; // of each block
};

// Needs CAP_BPF and CAP_PERFMON. Takes some seconds. Throws Failure(MachineCannot); a queue that can't be placed is told with the
// reason.
std::vector<CalibratedTarget> calibrate(const Pass &pass);

} // namespace icepath::calibrate
