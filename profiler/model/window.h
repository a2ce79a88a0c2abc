// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stretch of time that was looked at: what the capture saw of it, whichever cells were measured in it, or none. Plain data.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ebpf/records.h"

namespace icepath::model {

// CLOCK_MONOTONIC and CLOCK_REALTIME read together, at both ends of a window.
struct ClockPair {
	uint64_t monotonic_ns = 0, realtime_ns = 0;
};

// Known from the start: a side of a cell that is measured in it. Threads that such a one begins are in the records.
struct WindowThread {
	uint32_t tid = 0; // in the initial pid namespace
	uint32_t cpu = 0; // where it was pinned
	std::string name; // "tcp receiver"
};

// The records of one slot: see ebpf/records.h.
struct SlotCapture {
	int32_t cpu = -1; // -1: the slot of all CPUs without a worker
	uint32_t first = 0; // the number of its first record: not 0 only where the window goes on from the one before
	uint32_t position = 0; // the number of the next one: records begun, those of the windows before included
	uint32_t capacity = 0;
	std::vector<icepath_record> records; // at most min(position - first, capacity), in the order of `seq`
};

// BPF programs that the kernel skipped because they were running already, sometime within this.
struct SkippedPrograms {
	uint64_t begin_ns = 0, end_ns = UINT64_MAX;
	uint64_t count = 0;
};

inline uint64_t sum_of(const std::vector<SkippedPrograms> &skipped)
{
	uint64_t sum = 0;
	for (const SkippedPrograms &some : skipped)
		sum += some.count;
	return sum;
}

struct Window {
	uint32_t round = 0; // which visit of the plan
	bool probed = false;
	// A stretch of a capture that goes on: it begins where the window before it in the run ended, or ends where the next one begins, with
	// the same slots, so that what was open at the end is open at the begin. Whoever is off its CPU as a window ends has a STILL_OFF
	// record in it.
	bool begins_midway = false, ends_midway = false;
	ClockPair begin, finish;
	std::vector<WindowThread> threads; // each once
	std::vector<SlotCapture> slots; // empty where it wasn't probed
	std::vector<SkippedPrograms> skipped;
	// What meanwhile a hypervisor took from the run's CPUs, all of them together, by the kernel's account (ticks of 10 ms), and what
	// icepath and its helper used themselves; programs that the kernel runs for the probes are in no account.
	std::optional<uint64_t> steal_ns, own_cpu_ns;
	// How often meanwhile control groups of its workers, or groups above them, had used up their time: nr_throttled of cpu.stat.
	std::optional<uint64_t> times_throttled; // nothing where none could be read
};

} // namespace icepath::model
