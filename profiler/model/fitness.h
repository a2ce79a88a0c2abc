// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a machine is, or a run was, quiet enough, and for what: medians, ranks and tails each need something else.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::model {

// What a look at the CPUs saw, before any run or during one. It says nothing of what comes later.
struct Quietness {
	std::vector<CpuNoise> noise; // by CPU
	std::optional<std::pair<uint64_t, uint64_t>> round_trip_ns; // the shortest and longest of a cache line between CPUs
	std::optional<Steal> steal; // by a hypervisor, in more time than `noise` is of
	std::vector<CpuNoise> kept_off = {}; // by CPU: what others kept workers off it, in a run's blocks with probes
};

enum class Purpose : uint8_t { Medians, Ranks, Tails };
inline constexpr std::array<std::string_view, 3> kPurposeNames = {"medians", "ranks", "tails"};
inline std::string_view name_of(Purpose purpose) { return kPurposeNames.at(static_cast<size_t>(purpose)); }

// What others took of the CPUs.
struct Taken {
	uint32_t cpu = 0; // that lost the most
	double share = 0; // of its time
	bool during_run = false; // by Quietness::kept_off: the look beforehand met less
	uint64_t of_ns = 0; // in which it was looked at
	uint64_t longest_ns = 0; // gap of all CPUs in the look
	double stolen = 0; // share that a hypervisor took of all time
};

// text/fitness_words.h words it.
struct Fitness {
	Purpose purpose = Purpose::Medians;
	std::optional<bool> fit; // nothing: it wasn't measured
	std::optional<Taken> taken; // nothing: the CPUs' noise wasn't measured
	std::optional<std::pair<uint64_t, uint64_t>> round_trip_ns; // of ranks: Quietness's
};

// More than half of all messages must be undisturbed, with room for messages that take longer than a gap.
inline constexpr double kTakenForMedians = 0.05; // of a CPU's time, by others
// Round trips so far apart show a change that moves latencies from one block to the next: CPUs share a core, a cache or
// a socket, and from each of these to the next the round trip at least doubles. Ranks leave out the slowest tenth of a
// block's messages, so others mustn't take more than medians allow either.
inline constexpr double kLineApart = 1.5;
// Whatever has nothing to do with the target may disturb less than one message in a thousand, or else it makes the
// p99.9.
inline constexpr double kTakenForTails = 0.001;
inline constexpr uint64_t kLongestForTailsNs = 100'000;

std::vector<Fitness> fitness(const Quietness &seen);

} // namespace icepath::model
