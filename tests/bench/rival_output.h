// SPDX-License-Identifier: Apache-2.0
#pragma once
// What other tools' reports say of round trips. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace icepath::bench {

struct RivalReport {
	double round_trip_ns = 0; // the median
	uint64_t trips = 0;
	std::string version;
};

// Of `sockperf ping-pong`: with --full-rtt it tells round trips, without it half of them. Nothing where it measured
// nothing, or where messages were lost, came twice or in another order.
std::optional<RivalReport> parse_sockperf(std::string_view output);

// Of `fio --output-format=json --percentile_list=50` with one job that writes by the net engine with pingpong=1: a write
// is over when the answer is there. fio sorts times into buckets: its median is off by 0.8 % at most (FIO_IO_U_PLAT_BITS).
// Nothing where it measured nothing.
std::optional<RivalReport> parse_fio(std::string_view output);

} // namespace icepath::bench
