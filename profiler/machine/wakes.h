// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long CPUs take to wake, and what a hypervisor takes from them: both differ between runs and affect latencies.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::machine {

inline constexpr uint64_t kWakesNs = 60'000'000; // measure_wakes() stops sampling after this

// Measures all CPUs at the same time, each by a thread pinned to it. Leaves out CPUs on which icepath may not run.
std::vector<model::CpuWake> measure_wakes(const std::vector<uint32_t> &cpus);

// Time that a hypervisor has taken from these CPUs since boot, in ticks of 10 ms (/proc/stat). Nothing: unknown.
std::optional<uint64_t> steal_ns(const std::vector<uint32_t> &cpus);

// Pins the calling thread to one CPU, with icepath's own rights. Returns whether it may run there.
bool stay_on(uint32_t cpu);

} // namespace icepath::machine
