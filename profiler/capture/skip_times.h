// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the kernel skipped programs: it counts them and tells no time, so that looks at its counts are all there is to tell
// it by. Pure: the caller brings clock and counts.
#include <cstdint>
#include <vector>

#include "profiler/rundir/block.h"
#include "profiler/rundir/limits.h"

namespace icepath::capture {

using rundir::SkippedPrograms;
inline constexpr size_t kMostSkipTimes = rundir::kMaxSkipped; // of one block

class SkipTimes {
public:
	void begin(uint64_t now_ns, uint64_t misses);
	// The counts were read within this time, one after the other, and are `misses` in sum.
	void look(uint64_t begin_ns, uint64_t end_ns, uint64_t misses);
	// Since begin(), at most kMostSkipTimes: the last one has all that came after it.
	const std::vector<SkippedPrograms> &skipped() const { return skipped_; }

private:
	uint64_t looked_ns_ = 0, misses_ = 0;
	std::vector<SkippedPrograms> skipped_;
};

} // namespace icepath::capture
