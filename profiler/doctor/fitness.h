// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether this machine is quiet enough, and for what: medians, ranks and tails each need something else. By a short look
// at the CPUs of a run, which says nothing of what comes later.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::doctor {

struct Look {
	std::vector<model::CpuNoise> noise; // of a thread that spins on each CPU
	std::vector<uint64_t> round_trips_ns; // of a cache line between the CPUs, one look after the other
};

struct Fitness {
	const char *purpose = ""; // "medians", "ranks", "tails"
	std::optional<bool> fit; // nothing: it couldn't be measured
	std::string found;
	std::string threshold;
};

// More than half of all messages must be undisturbed, with room for messages that take longer than a gap.
inline constexpr double kTakenForMedians = 0.05; // of a CPU's time, by others
// A change that moves latencies from one block to the next; the same as between levels of a run (report/line_levels.h).
// Ranks leave out the slowest tenth of a block's messages, so others mustn't take more than medians allow either.
inline constexpr double kApartForRanks = 1.5;
// A p99.9 shouldn't be made by what has nothing to do with the target: less than one message in a thousand.
inline constexpr double kTakenForTails = 0.001;
inline constexpr uint64_t kLongestForTailsNs = 100'000;

std::vector<Fitness> fitness(const Look &look);

} // namespace icepath::doctor
