// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far apart two CPUs are at the moment, by what it takes a cache line to go from one to the other and back. A guest's CPUs may
// be two threads of one core now and two cores of different caches a minute later: nothing that a kernel tells its guest says so.
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/machine.h"

namespace icepath::run {

// The median of some batches, between two threads that spin, each pinned to its CPU. It takes less than a millisecond where nobody
// has the CPUs, and gives up after kLongestLineNs: then, or where icepath may not run there, it is nothing.
inline constexpr uint64_t kLongestLineNs = 10'000'000;
std::optional<uint64_t> round_trip_ns(uint32_t from_cpu, uint32_t to_cpu);

// From the first of a run's CPUs to each of the others (the first eight of them), as time goes by.
class CacheLines {
public:
	// Looks no more often than a run of `budget_s` has room for.
	CacheLines(const std::vector<uint32_t> &cpus, double budget_s);
	void look(); // whatever was there before
	void look_if_due();
	const std::vector<model::CacheLine> &all() const { return lines_; }

private:
	std::vector<model::CacheLine> lines_;
	uint64_t period_ns_, last_ns_ = 0;
};

} // namespace icepath::run
