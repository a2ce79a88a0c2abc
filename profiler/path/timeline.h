// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread's states over an interval, and what else went on on its CPU.
#include "profiler/path/observations.h"

namespace icepath::path {

// A piece of a thread's time in which it either ran on one CPU or was off it.
struct Stretch {
	uint64_t begin_ns = 0, end_ns = 0;
	const OffCpu *off = nullptr; // nullptr: it ran
	uint16_t cpu = 0;            // where it ran
};

// Cuts [begin, end) into stretches, in order, without a gap; nothing if begin >= end.
std::vector<Stretch> stretches(const Thread &thread, uint64_t begin_ns, uint64_t end_ns);

// The period that holds `at` strictly inside, if any: an instant at which the thread acted can't lie there.
const OffCpu *off_across(const Thread &thread, uint64_t at_ns);

// The interrupts that overlap [begin, end) on a CPU and are nested in no other, in order, disjoint after clipping.
// `whole` holds the same ones unclipped.
struct Carved {
	uint64_t begin_ns = 0, end_ns = 0;
	const Interrupt *whole = nullptr;
};
std::vector<Carved> outermost_interrupts(const Cpu &cpu, uint64_t begin_ns, uint64_t end_ns);

// Whether a task that is no worker ran on the CPU at some time in (begin, end).
bool foreign_task_ran(const Cpu &cpu, uint64_t begin_ns, uint64_t end_ns);

// Whom a waking names.
Culprit waker_of(const OffCpu &off);

// A period that contradicts itself (inverted_time) or a sleep with no waking (no_evidence).
Reason flaw(const OffCpu &off);

// When an interrupt on a CPU was over, in all of its pieces. 0: that isn't known.
uint64_t end_of(const Observations &seen, uint16_t cpu, const Interrupt &one);

// The outermost interrupt on a CPU that holds an instant, or nullptr; and its record.
const Interrupt *outermost_around(const Observations &seen, uint16_t cpu, uint64_t at_ns);
std::optional<uint32_t> interrupt_around(const Observations &seen, uint16_t cpu, uint64_t at_ns);

} // namespace icepath::path
