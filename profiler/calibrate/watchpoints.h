// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hardware watchpoints on words of the kernel, for the calling thread only (perf_event_open(2), PERF_TYPE_BREAKPOINT),
// for kernels whose functions can't be probed. A hit takes some microseconds: never use them in a measurement.
#include <cstdint>
#include <span>

#include "ebpf/watched.h"
#include "profiler/calibrate/placement.h"
#include "profiler/channel.h"

struct calibration_bpf;
struct bpf_link;

namespace icepath::calibrate {

class Watchpoints {
public:
	// Throws Failure(MachineCannot) without root, or if the kernel refuses.
	Watchpoints();
	~Watchpoints(); // removes all watchpoints
	Watchpoints(const Watchpoints &) = delete;
	Watchpoints &operator=(const Watchpoints &) = delete;

	// Watches that word of the file of `fd`, instead of the previous one. Throws Failure(MachineCannot).
	void watch(icepath_watched word, int fd);
	void enable(bool enabled); // new watchpoints are disabled; a disabled one costs nothing

	void forget_hits();
	// Hits of the calling thread since forget_hits(), in order; at most ICEPATH_MOST_HITS.
	std::span<const uint64_t> hits_ns() const;

	// Cost of all `hits` hits of a call together, before and after the instant of hit number `hit` (from 0): the median
	// over several runs of a BPF program that writes a watched word `hits` times. Forgets the hits so far.
	HitCost cost_of(size_t hit, size_t hits);

private:
	struct Watch {
		Fd event;
		bpf_link *link = nullptr;
	};
	Watch open(uint64_t address, uint32_t bytes);
	void close(Watch &watch);
	void store_anchor(size_t times);

	calibration_bpf *bpf_ = nullptr;
	Watch anchor_, word_;
};

} // namespace icepath::calibrate
