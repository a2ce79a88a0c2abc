// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the kernel skipped programs: it counts them and tells no time, so that looks at its counts are all there is to tell
// it by. Pure: the caller brings clock and counts.
#include <cstdint>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/rundir/limits.h"

namespace icepath::capture {

using model::SkippedPrograms;
inline constexpr size_t kMostSkipTimes = rundir::kMaxSkipped; // of one block

// Runs that were skipped since the programs were loaded.
struct Misses {
	uint64_t of_an_instant = 0; // is_of_an_instant()
	uint64_t lasting = 0; // of the other probes
};

class SkipTimes {
public:
	void begin(uint64_t now_ns, Misses misses);
	// The counts were read within this time, one after the other.
	void look(uint64_t begin_ns, uint64_t end_ns, Misses misses);
	// Since begin(), at most kMostSkipTimes, disjoint: what was lasting lasts to the end of all times, and of too many the last
	// has all that came after it.
	const std::vector<SkippedPrograms> &skipped() const { return skipped_; }

private:
	void add(uint64_t count, uint64_t end_ns);
	uint64_t looked_ns_ = 0;
	Misses misses_;
	std::vector<SkippedPrograms> skipped_;
};

} // namespace icepath::capture
