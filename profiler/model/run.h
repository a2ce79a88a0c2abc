// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's data apart from its blocks and windows.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/arm.h"
#include "profiler/model/attached.h"
#include "profiler/model/cell.h"
#include "profiler/model/conditions.h"

namespace icepath::model {

// What a run learns about its machine besides what it measures.
//
// How late a sleeping thread runs after its timer expires, with nothing of the run active. Every latency of a receiver
// that waits asleep includes what a halted CPU needs to come back, which differs between machines and between hours.
struct CpuWake {
	uint32_t cpu = 0;
	uint64_t p50_ns = 0, p90_ns = 0;
	friend bool operator==(const CpuWake &, const CpuWake &) = default;
};

// What took a CPU from a thread that only read the clock, with nothing of the run active.
struct NoiseSource {
	std::string name; // "timer interrupt", a task's, or "unknown": no record shows it, as of a hypervisor
	uint64_t gaps = 0; // those whose longest part it took: noise/gaps.h
	uint64_t ns = 0, longest_ns = 0; // of its parts of gaps
	friend bool operator==(const NoiseSource &, const NoiseSource &) = default;
};

// A gap is a time of more than 1 us between two readings.
struct CpuNoise {
	uint32_t cpu = 0;
	uint64_t of_ns = 0; // how long the thread read the clock
	uint64_t gaps = 0, ns = 0, longest_ns = 0;
	std::vector<NoiseSource> sources; // by time; empty: not looked for
	std::string longest_source; // the source that the longest gap counts for; empty without sources
	friend bool operator==(const CpuNoise &, const CpuNoise &) = default;
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

// A layer and the probe that it rests on in this run. `tier` is "tracepoint", "stamp", … or "none" with the reason in
// `probe`.
struct ProbeUse {
	std::string layer, probe, tier;
};

// Known before the first block.
struct Head {
	std::string icepath_version;
	std::string command_line;
	std::string started_utc; // ISO 8601
	Host host;
	Isolation isolation;
	std::vector<ProbeUse> probes;
	std::vector<Cell> cells;
	std::vector<Arm> arms = {}; // in the order asked for; empty: one build and configuration
	double budget_s = 60;
	// Of the run's CPUs, before the first block: idling as the machine has it, and kept awake where cells are measured
	// so.
	std::vector<CpuWake> wakes = {}, wakes_held = {};
	// Of the run's CPUs, before the first block: as isolated as in blocks, and before they were isolated (full only).
	std::vector<CpuNoise> noise = {}, noise_before = {};
	std::optional<Attached> attached = {}; // watched programs instead of cells
};

// Known after the last block.
struct Tail {
	std::string finished_utc;
	bool interrupted = false;
	uint32_t rounds = 0;
	std::vector<std::string> notices; // what the user must know: failed cells, loss, dropped storage
	std::vector<CpuWake> wakes = {}; // of the run's CPUs, after the last block, idling as the machine has it
	std::optional<Steal> steal = {};
	// Interrupts that no probe sees, counted from before the first block to after the last.
	std::vector<InterruptCount> untraced_interrupts = {};
	std::vector<CacheLine> cache_lines = {}; // from the run's first CPU to each of the others
	// By cell: fresh processes that weren't ready to measure, whether the cell was tried again or given up.
	std::vector<uint32_t> failed_openings = {};
	std::optional<Detached> detached = {}; // of watched programs
};

} // namespace icepath::model
