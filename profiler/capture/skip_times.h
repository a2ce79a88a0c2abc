// SPDX-License-Identifier: Apache-2.0
#pragma once
// When and how often the kernel skipped programs. It only counts skips, without their times, so repeated looks at the
// counts have to bound these. Pure: the caller provides clock and counts.
#include <cstdint>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/rundir/limits.h"

struct bpf_link;
struct bpf_program;

namespace icepath::capture {

using model::SkippedPrograms;
inline constexpr size_t kMostSkipTimes = rundir::kMaxSkipped; // of one block

// Runs skipped since the programs were loaded.
struct Misses {
	uint64_t of_an_instant = 0; // is_of_an_instant()
	uint64_t lasting = 0; // of the other probes
};

class SkipTimes {
public:
	void begin(uint64_t now_ns, Misses misses);
	// The counts were read one after the other within this span.
	void look(uint64_t begin_ns, uint64_t end_ns, Misses misses);
	// Skips since begin(), disjoint, at most kMostSkipTimes. Lasting ones extend to the end of time. If there are too
	// many, the last one covers all later ones.
	const std::vector<SkippedPrograms> &skipped() const { return skipped_; }

private:
	void add(uint64_t count, uint64_t end_ns);
	uint64_t looked_ns_ = 0;
	Misses misses_;
	std::vector<SkippedPrograms> skipped_;
};

// How often the kernel skipped this program since loading because it was already running. Since 6.7 also how often a
// kprobe link's breakpoint was hit while another one's handler ran (kprobes_inc_nmissed_count()).
uint64_t misses_of(const bpf_program *program, const bpf_link *link);

} // namespace icepath::capture
