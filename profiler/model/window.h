// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stretch of time under observation and what the capture saw of it, whichever cells were measured in it, or none.
// Plain data.
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

// A side that is measured in the window, known from its start. Threads that such a side starts are in the records.
struct WindowThread {
	uint32_t tid = 0; // in the initial pid namespace
	uint32_t cpu = 0; // where it was pinned
	std::string name; // "tcp receiver"
};

// A thread of a cell of the run that isn't measured in the window, which ran in it nevertheless; or a daemon, by its
// process, that only some of the window's cells use.
struct WindowOther {
	uint32_t tid = 0; // as WindowThread's
	std::string whose; // "nng/ipc", "nng/ipc of arm old", "daemon mosquitto"
	std::vector<uint32_t> cells; // for which it works
};

// The records of one slot: see ebpf/records.h.
struct SlotCapture {
	int32_t cpu = -1; // -1: the slot of all CPUs without a worker
	uint32_t first = 0; // number of its first record; not 0 only where the window continues the one before
	uint32_t position = 0; // number of the next record: all that were begun, those of earlier windows included
	uint32_t capacity = 0;
	std::vector<icepath_record> records; // at most min(position - first, capacity), in the order of `seq`
};

// BPF programs that the kernel skipped because they were already running, at an unknown time in this span.
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
	// A continued capture: the window begins where the run's window before it ended, or ends where the next one begins,
	// with the same slots, so what is open at the end is open at the next begin. Each thread that is off its CPU as a
	// window ends has a STILL_OFF record in it.
	bool begins_midway = false, ends_midway = false;
	// Its SAMPLE records. A sampled window is probed as well, and serves for its samples only: each of them takes time.
	uint64_t sample_period_ns = 0; // 0: it isn't sampled
	std::vector<std::string> functions;
	std::vector<std::vector<uint32_t>> stacks; // indices into `functions`, from the outermost one to what was running
	ClockPair begin, finish;
	std::vector<WindowThread> threads; // each once
	std::vector<WindowOther> others; // likewise; none without probes
	std::vector<SlotCapture> slots; // empty without probes
	std::vector<SkippedPrograms> skipped;
	// CPU time in the window. Steal: taken by the hypervisor from all of the run's CPUs together, by the kernel's
	// account (ticks of 10 ms). Own: used by icepath and its helper. The BPF programs that the kernel runs for the
	// probes are in neither.
	std::optional<uint64_t> steal_ns, own_cpu_ns;
	// How often the workers' control groups, or groups above them, ran out of their quota in the window: nr_throttled
	// of cpu.stat.
	std::optional<uint64_t> times_throttled; // nothing: none could be read

	bool is_sampled() const { return sample_period_ns != 0; }
};

} // namespace icepath::model
