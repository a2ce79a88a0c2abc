// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other tools' ping-pongs of kPayloadBytes whose receivers sleep, on the same CPUs as icepath's. Each call
// starts both sides, measures for about a second, ends both, and throws Failure where that can't be.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/bench/round_trips.h"

namespace icepath::bench {

// What other tools' reports say of round trips. Pure.
struct RivalReport {
	double round_trip_ns = 0; // the median
	uint64_t trips = 0;
	std::string version;
};

// Of `sockperf ping-pong`: with --full-rtt it tells round trips, without it half of them. Nothing where it measured
// nothing, or where messages were lost, came twice or in another order.
std::optional<RivalReport> parse_sockperf(std::string_view output);

// Of `fio --output-format=json --percentile_list=50` with one job that writes by the net engine with pingpong=1: a
// write is over when the answer is there. fio sorts times into buckets: its median is off by 0.8 % at most
// (FIO_IO_U_PLAT_BITS). Nothing where it measured nothing.
std::optional<RivalReport> parse_fio(std::string_view output);

// Debian 12's sockperf (3.7) has no UNIX sockets. TCP_NODELAY is its default.
RivalReport sockperf_over_tcp(CpuPair cpus);
RivalReport sockperf_over_udp(CpuPair cpus);

RivalReport fio_over_uds(CpuPair cpus);

} // namespace icepath::bench
