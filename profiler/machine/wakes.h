// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long CPUs take to wake, and what a hypervisor takes from them: both differ between runs and affect latencies.
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::machine {

inline constexpr uint64_t kWakesNs = 60'000'000; // measure_wakes() stops sampling after this

// Measures all CPUs at the same time, each by a child process that is pinned to it. `admit` gets the pidfd of each
// child before the child is pinned; empty: nothing is done. Leaves out CPUs on which the child may not run or for
// which none can be started.
std::vector<model::CpuWake> measure_wakes(const std::vector<uint32_t> &cpus,
										  const std::function<void(int pidfd)> &admit = {});

// Time that a hypervisor has taken from these CPUs since boot, in ticks of 10 ms (/proc/stat). Nothing: unknown.
std::optional<uint64_t> steal_ns(const std::vector<uint32_t> &cpus);

// Pins the calling thread to one CPU, with icepath's own rights. Returns whether it may run there.
bool stay_on(uint32_t cpu);

} // namespace icepath::machine
