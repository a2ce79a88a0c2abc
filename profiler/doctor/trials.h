// SPDX-License-Identifier: Apache-2.0
#pragma once
// What doctor tries besides probes and plug-ins: the clock, the counters, and so the layers of a breakdown.
#include <cstdint>
#include <string>
#include <vector>

#include "cpuset/topology.h"
#include "profiler/capture/selection.h"
#include "profiler/doctor/doctor.h"
#include "profiler/model/run.h"

namespace icepath::doctor {

// CLOCK_MONOTONIC between two CPUs: one-way latencies are differences of stamps taken on both.
struct ClockTrial {
	int64_t offset_ns = 0; // second CPU's clock minus the first's, as NTP estimates it (RFC 5905, section 8)
	int64_t error_ns = 0; // half of the shortest round trip: the true offset is within offset_ns ± error_ns
	uint64_t read_ns = 0; // median cost of one reading
	uint64_t backward = 0; // readings earlier than a previous one on the other CPU
	std::string source; // current clock source
};

// Runs two pinned threads for a few milliseconds. With one CPU, only read_ns and source are set.
ClockTrial try_clock(uint32_t first_cpu, uint32_t second_cpu);

// Which counters a run's workers will have. Tried as the invoking user, because workers run as that user. Each is 0 if
// it works, otherwise the errno.
struct CounterTrial {
	int32_t hardware = 0; // user and kernel mode
	int32_t user_mode = 0; // user mode only
	int32_t migrations = 0;
};

CounterTrial try_counters();
Check counters_check(const CounterTrial &trial);

// `untraced`: interrupts that no probe shows, since boot. A kind that practically never came is unlikely to come during
// a run.
Check interrupts_check(const std::vector<model::InterruptCount> &untraced, const cpuset::Machine &machine);

// The sources of each layer of a breakdown here: one check for each layer, "layer runqueue", in the order of reports.
// `tried`: the result of each probe.
std::vector<Check> layer_checks(const capture::Selection &tried);

} // namespace icepath::doctor
