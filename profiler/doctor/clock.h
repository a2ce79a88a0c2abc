// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far CLOCK_MONOTONIC can be trusted between two CPUs: one-way latencies are differences of stamps taken on both.
#include <cstdint>
#include <string>

namespace icepath::doctor {

struct ClockTrial {
	int64_t offset_ns = 0; // of the second CPU's clock against the first's, as NTP estimates it (RFC 5905, section 8)
	int64_t error_ns = 0;  // the true offset is within offset_ns ± error_ns: half of the shortest round trip
	uint64_t read_ns = 0;  // what one reading costs, median
	uint64_t backward = 0; // readings that were earlier than one taken before on the other CPU
	std::string source;    // current clock source
};

// Pins two threads for a few milliseconds. With one CPU, only cost and source are filled.
ClockTrial try_clock(uint32_t first_cpu, uint32_t second_cpu);

} // namespace icepath::doctor
