// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples of what threads ran, by the segments of paths that they are in.
#include <cstdint>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::path {

// A sample stands for the instant at which its timer was to expire. It is in a segment if that instant is, and if the
// segment's thread had the sample's CPU then. `network` and `notify` name the thread that the message goes to, but have
// the samples of the thread on which the message was announced: its call, or a softirq on top of it, does that work. A
// sample may be in segments of several deliveries, because deliveries overlap.
struct SampledSegment {
	uint32_t sample = 0; // index into Observations::samples
	uint32_t delivery = 0; // into Observations::deliveries
	uint32_t segment = 0; // into that path's segments
	// Whether its stack is that thread's. If not, another thread has been switched in since.
	bool of_thread = true;
	// Whether its function ran at that instant. If not, the segment ended before the timer's interrupt came: interrupts
	// were off, and the function is the one that ran when they came on again.
	bool of_instant = true;
};

// `paths`: in the order of seen.deliveries. `period_ns`: of the timers, which are restarted in each block. The result
// is by delivery and segment.
std::vector<SampledSegment> sampled_segments(const Observations &seen, const std::vector<Path> &paths,
											 uint64_t period_ns);

// The threads that had the samples' CPUs at these instants; 0: none of them. In the order of seen.samples.
std::vector<uint32_t> sampled_threads(const Observations &seen, uint64_t period_ns);

// The samples' instants: as recorded or, where the kernel doesn't give them to programs, computed from the fact that a
// CPU's timer expires every `period_ns`. In the order of seen.samples.
std::vector<uint64_t> planned_times(const Observations &seen, uint64_t period_ns);

// When the sample's interrupt stopped the code: the begin of its timer interrupt's record, else when it was handled.
uint64_t stopped_at(const Observations &seen, const Sample &sample);

} // namespace icepath::path
