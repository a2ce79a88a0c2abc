// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tests CLOCK_MONOTONIC between two CPUs: one-way latencies are differences of stamps taken on both.
#include <cstdint>
#include <string>

namespace icepath::doctor {

struct ClockTrial {
	int64_t offset_ns = 0; // second CPU's clock minus the first's, as NTP estimates it (RFC 5905, section 8)
	int64_t error_ns = 0; // half of the shortest round trip: the true offset is within offset_ns ± error_ns
	uint64_t read_ns = 0; // median cost of one reading
	uint64_t backward = 0; // readings earlier than a previous one on the other CPU
	std::string source; // current clock source
};

// Runs two pinned threads for a few milliseconds. With one CPU, only read_ns and source are set.
ClockTrial try_clock(uint32_t first_cpu, uint32_t second_cpu);

} // namespace icepath::doctor
