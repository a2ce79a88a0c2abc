// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of the machine may differ from one run to the next, and decides latencies with it.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/machine.h"

namespace icepath::run {

inline constexpr uint64_t kWakesNs = 60'000'000; // what measuring them takes

// Of each CPU at once, by a thread pinned to it. CPUs on which icepath may not run are left out.
std::vector<model::CpuWake> measure_wakes(const std::vector<uint32_t> &cpus);

// What a hypervisor has taken from these CPUs since the machine began; the kernel counts ticks of 10 ms (/proc/stat). Nothing
// where that can't be read.
std::optional<uint64_t> steal_ns(const std::vector<uint32_t> &cpus);

} // namespace icepath::run
