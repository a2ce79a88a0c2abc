// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two processes, each pinned to its CPU as icepath's workers are, for ping-pongs that are nothing else.
#include <functional>
#include <vector>

#include "tests/bench/round_trips.h"

namespace icepath::bench {

// Runs both sides at once; `initiate` fills in as many values as there is room for, which are returned. What the sides
// share must have been made before. Throws Failure where a side fails or takes too long.
std::vector<double> run_two_sides(CpuPair cpus, size_t room, const std::function<void(double *values)> &initiate,
								  const std::function<void()> &respond);

} // namespace icepath::bench
