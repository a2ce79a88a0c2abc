// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread's states over an interval, and other activity on its CPU.
#include <boost/container/small_vector.hpp>
#include <optional>

#include "profiler/path/observations.h"

namespace icepath::path {

// A piece of a thread's time, either running on one CPU or off it.
struct Stretch {
	uint64_t begin_ns = 0, end_ns = 0;
	const OffCpu *off = nullptr; // nullptr: it ran
	uint16_t cpu = 0;            // where it ran
};
using Stretches = boost::container::small_vector<Stretch, 4>; // of a message, mostly

// Cuts [begin, end) into stretches, in order, without gaps; empty if begin >= end.
Stretches stretches(const Thread &thread, uint64_t begin_ns, uint64_t end_ns);

// Where the thread ran at that time, or, if it was off its CPU, where it ran next. Nothing: no record tells.
std::optional<uint16_t> cpu_at(const Thread &thread, uint64_t at_ns);

// Returns the period that holds `at` strictly inside, or nullptr. The thread can't have acted within it.
const OffCpu *off_across(const Thread &thread, uint64_t at_ns);

// The outermost interrupts that overlap [begin, end) on a CPU: in order, clipped, disjoint. `whole` is the unclipped
// interrupt.
struct Carved {
	uint64_t begin_ns = 0, end_ns = 0;
	const Interrupt *whole = nullptr;
};
boost::container::small_vector<Carved, 4> outermost_interrupts(const Cpu &cpu, uint64_t begin_ns, uint64_t end_ns);

// Whether a task other than a worker ran on the CPU within (begin, end).
bool foreign_task_ran(const Cpu &cpu, uint64_t begin_ns, uint64_t end_ns);

// What ended a sleep.
Culprit waker_of(const OffCpu &off);
bool by_timer(const OffCpu &off);
bool by_packets(const OffCpu &off);

// inverted_time for a period that contradicts itself, no_evidence for a sleep without a waking, else None.
Reason flaw(const OffCpu &off);

// End of an interrupt, all its pieces included. 0: not known.
uint64_t end_of(const Observations &seen, uint16_t cpu, const Interrupt &one);

// The outermost interrupt on a CPU around an instant, or nullptr; and its record.
const Interrupt *outermost_around(const Observations &seen, uint16_t cpu, uint64_t at_ns);
std::optional<uint32_t> interrupt_around(const Observations &seen, uint16_t cpu, uint64_t at_ns);

} // namespace icepath::path
