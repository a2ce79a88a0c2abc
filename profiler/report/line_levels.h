// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the run's CPUs stayed as far apart as they were: what a cache line took between two of them, one level after the other.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/machine.h"

namespace icepath::report {

struct LineLevel {
	uint64_t from_ns = 0; // its first look, since the first of all
	uint64_t round_trip_ns = 0; // the median of its looks
	size_t looks = 0;
};

// A level ends where two looks one after the other, or the last one, are kApart times as long as its median, or as short: what CPUs
// share is a core, a cache or a socket, and from one of these to the next a line takes twice as long and more. One look that
// stands alone met something else.
inline constexpr double kApart = 1.5;
std::vector<LineLevel> levels_of(const model::CacheLine &line);

// "took 0.05 µs from CPU 0 to CPU 1 and back, 0.34 from 4.1 s on". Of as many as are read with ease.
std::string levels_text(const model::CacheLine &line, const std::vector<LineLevel> &levels);

} // namespace icepath::report
