// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run learns about its machine besides what it measures.
#include <cstdint>
#include <string>
#include <vector>

namespace icepath::model {

// How late a sleeping thread runs after its timer expires, with nothing of the run active. Every latency of a receiver
// that waits asleep includes what a halted CPU needs to come back, which differs between machines and between hours.
struct CpuWake {
	uint32_t cpu = 0;
	uint64_t p50_ns = 0, p90_ns = 0;
	friend bool operator==(const CpuWake &, const CpuWake &) = default;
};

// What a hypervisor took from all of the run's CPUs together during blocks, by the kernel's account.
struct Steal {
	uint64_t ns = 0, of_ns = 0;
	friend bool operator==(const Steal &, const Steal &) = default;
};

// Round trip of a cache line between two CPUs with a spinning thread each, with nothing of the run active. The less the
// CPUs share (core, cache, socket), the longer it is. If a hypervisor moves its CPUs, it changes, and so do all
// latencies between them.
struct LineTime {
	uint64_t at_ns = 0, round_trip_ns = 0; // at_ns: CLOCK_MONOTONIC
	friend bool operator==(const LineTime &, const LineTime &) = default;
};
struct CacheLine {
	uint32_t from_cpu = 0, to_cpu = 1;
	std::vector<LineTime> times = {}; // before the first block, at times between blocks, and after the last
	friend bool operator==(const CacheLine &, const CacheLine &) = default;
};

// A row of /proc/interrupts, summed over the run's CPUs.
struct InterruptCount {
	std::string label, name; // "HYP", "Hypervisor callback interrupts"
	uint64_t count = 0;
	friend bool operator==(const InterruptCount &, const InterruptCount &) = default;
};

} // namespace icepath::model
