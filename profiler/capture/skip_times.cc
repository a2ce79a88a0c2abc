// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/skip_times.h"

#include <algorithm>

namespace icepath::capture {

void SkipTimes::begin(uint64_t now_ns, Misses misses)
{
	looked_ns_ = now_ns;
	misses_ = misses;
	skipped_.clear();
}

void SkipTimes::add(uint64_t count, uint64_t end_ns)
{
	if (count == 0)
		return;
	if (!skipped_.empty() && (looked_ns_ <= skipped_.back().end_ns || skipped_.size() == kMostSkipTimes)) {
		skipped_.back().end_ns = std::max(skipped_.back().end_ns, end_ns);
		skipped_.back().count += count;
	} else {
		skipped_.push_back({looked_ns_, end_ns, count});
	}
}

void SkipTimes::look(uint64_t begin_ns, uint64_t end_ns, Misses misses)
{
	if (misses.of_an_instant < misses_.of_an_instant || misses.lasting < misses_.lasting)
		return; // a count couldn't be read; the next look will show it
	add(misses.of_an_instant - misses_.of_an_instant, end_ns);
	add(misses.lasting - misses_.lasting, UINT64_MAX);
	// A skip while the counts are read may belong to this look or the next.
	looked_ns_ = begin_ns;
	misses_ = misses;
}

} // namespace icepath::capture
