// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hardware watchpoints on words of the kernel, hit by the calling thread alone (perf_event_open(2), PERF_TYPE_BREAKPOINT), for
// kernels whose functions can't be probed. A hit takes some microseconds: never beside a measurement.
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
	// Throws Failure(MachineCannot): without root, or where the kernel refuses.
	Watchpoints();
	~Watchpoints(); // nothing is watched any more
	Watchpoints(const Watchpoints &) = delete;
	Watchpoints &operator=(const Watchpoints &) = delete;

	// Watches that word of the file that `fd` of this process is; instead of the one before. Throws Failure(MachineCannot).
	void watch(icepath_watched word, int fd);
	void enable(bool enabled); // costs nothing while it isn't; a new one is not

	void forget_hits();
	// Of the calling thread since then, in their order; at most ICEPATH_MOST_HITS.
	std::span<const uint64_t> hits_ns() const;

	// What the hits of a call cost before and after the instant of one of them (`hit` of `hits`, from 0), all of them together: the
	// median over several times that a BPF program writes a watched word so often. Forgets the hits so far.
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
