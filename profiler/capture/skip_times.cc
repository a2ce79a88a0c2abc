// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/skip_times.h"

namespace icepath::capture {

void SkipTimes::begin(uint64_t now_ns, uint64_t misses)
{
	looked_ns_ = now_ns;
	misses_ = misses;
	skipped_.clear();
}

void SkipTimes::look(uint64_t begin_ns, uint64_t end_ns, uint64_t misses)
{
	const uint64_t more = misses - misses_;
	if (more > 0 && skipped_.size() == kMostSkipTimes) {
		skipped_.back().end_ns = end_ns;
		skipped_.back().count += more;
	} else if (more > 0) {
		skipped_.push_back({looked_ns_, end_ns, more});
	}
	// What is skipped while the counts are read may be in this look or in the next.
	looked_ns_ = begin_ns;
	misses_ = misses;
}

} // namespace icepath::capture
