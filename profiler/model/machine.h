// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run sees of the machine that it runs on, besides what it measures.
#include <cstdint>
#include <string>
#include <vector>

namespace icepath::model {

// How late a thread that slept on a CPU ran again, by a timer that was due, with nothing of the run going on: what a CPU that halts
// needs to come back is in every latency of who waits asleep, and differs between machines and between hours.
struct CpuWake {
	uint32_t cpu = 0;
	uint64_t p50_ns = 0, p90_ns = 0;
	friend bool operator==(const CpuWake &, const CpuWake &) = default;
};

// What a hypervisor took from the run's CPUs, all of them together, while blocks went on, by the kernel's account.
struct Steal {
	uint64_t ns = 0, of_ns = 0;
	friend bool operator==(const Steal &, const Steal &) = default;
};

// How long a cache line takes from one CPU to another and back, between two threads that spin, with nothing of the run going on.
// It is longer the less the CPUs share: a core, a cache, a socket. Where a hypervisor moves its CPUs it changes, and all latencies
// between them with it.
struct LineTime {
	uint64_t at_ns = 0, round_trip_ns = 0; // at: CLOCK_MONOTONIC
	friend bool operator==(const LineTime &, const LineTime &) = default;
};
struct CacheLine {
	uint32_t from_cpu = 0, to_cpu = 1;
	std::vector<LineTime> times = {}; // before the first block, now and then between blocks, and after the last
	friend bool operator==(const CacheLine &, const CacheLine &) = default;
};

// A row of /proc/interrupts, over the run's CPUs.
struct InterruptCount {
	std::string label, name; // "HYP", "Hypervisor callback interrupts"
	uint64_t count = 0;
	friend bool operator==(const InterruptCount &, const InterruptCount &) = default;
};

} // namespace icepath::model
