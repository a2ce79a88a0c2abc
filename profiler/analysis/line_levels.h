// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detects whether the run's CPUs moved: the levels of a cache line's round trip between two of them, one after the
// other.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::analysis {

struct LineLevel {
	uint64_t from_ns = 0; // its first look, relative to the first of all
	uint64_t round_trip_ns = 0; // median of its looks
	size_t looks = 0;
};

// A level ends where two consecutive looks that agree, or the last one, differ from its median by a factor of at least
// model::kLineApart. A single deviating look met something else.
std::vector<LineLevel> levels_of(const model::CacheLine &line);

// "took 0.05 µs from CPU 0 to CPU 1 and back, 0.34 from 4.1 s on", with at most as many levels as are easy to read.
std::string levels_text(const model::CacheLine &line, const std::vector<LineLevel> &levels);

} // namespace icepath::analysis
