// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gaps of a thread that does nothing but read the clock, and what made them. The kernel's osnoise tracer looks at
// noise in the same way (Documentation/trace/osnoise-tracer.rst).
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "profiler/model/run.h"
#include "profiler/path/observations.h"

namespace icepath::noise {

// A shorter time between two readings is no gap: a cache miss, or a slow reading.
inline constexpr uint64_t kLeastGapNs = 1000;
// What entering and leaving an interrupt may take, on a virtual machine as well: so much of a gap needs no other cause.
inline constexpr uint64_t kEnteringNs = 20'000;

inline constexpr const char *kTick = "timer interrupt"; // the source that the tick is

// Of a source's name: a task's, and none of those that path::culprit_name() makes for anything else.
bool is_task(std::string_view source);

struct Gap {
	uint64_t begin_ns = 0, end_ns = 0; // CLOCK_MONOTONIC
	uint64_t ns() const { return end_ns - begin_ns; }
};

struct Spun {
	uint64_t begin_ns = 0, end_ns = 0;
	uint64_t gaps = 0, ns = 0, longest_ns = 0; // of all gaps, also of those beyond `room`
};

// Reads the clock for `ns`, and writes the first gaps into `room`.
Spun spin(uint64_t ns, std::span<Gap> room);

// Adds gaps of thread `tid`. A gap's time is divided among what records show in it; the rest is "unknown", as entering
// and leaving an interrupt is. It counts once: for the one with the longest part, and for "unknown" if records show
// nothing, or nothing longer than what is unknown, if that is more than kEnteringNs. `seen`: nothing if nothing was
// captured; then gaps have no sources.
void add(const Spun &spun, std::span<const Gap> gaps, const path::Observations *seen, uint32_t tid,
		 model::CpuNoise &noise);

} // namespace icepath::noise
