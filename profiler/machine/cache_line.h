// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far apart two CPUs are at the moment: the round trip of a cache line between them. A guest's CPUs may be two
// threads of one core now and cores of different caches a minute later, and nothing in the guest's kernel shows it.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/run.h"

namespace icepath::machine {

// Median of several batches, between two spinning threads, each pinned to its CPU. Takes less than a millisecond on
// idle CPUs. Nothing if icepath may not run on a CPU, or if fewer than half of the batches end within kLongestLineNs.
inline constexpr uint64_t kLongestLineNs = 10'000'000;
std::optional<uint64_t> round_trip_ns(uint32_t from_cpu, uint32_t to_cpu);

// Round trips from a run's first CPU to each of the next eight, repeated over the run.
class CacheLines {
public:
	// `budget_s` bounds how often it measures: a run has room for rundir::kMaxLineTimes.
	CacheLines(const std::vector<uint32_t> &cpus, double budget_s);
	void look(); // now, whether or not it is due
	void look_if_due();
	const std::vector<model::CacheLine> &all() const { return lines_; }

private:
	std::vector<model::CacheLine> lines_;
	uint64_t period_ns_, last_ns_ = 0;
};

} // namespace icepath::machine
