// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell's processes used: CPU time, memory, page faults, switches.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/analysis/seen_block.h"
#include "profiler/model/block.h"
#include "profiler/model/run.h"
#include "profiler/stats/block_interval.h"

namespace icepath::analysis {

// The sum is the scheduler's own account of the thread, sum_exec_runtime. Its division may be a guess: see
// cpu_split_is_exact().
struct CpuTime {
	double user_ns = 0, system_ns = 0;
	double total_ns() const { return user_ns + system_ns; }
};

// Whether user and system time were measured. They are only on nohz_full CPUs, where the kernel reads the clock on each
// entry and exit (vtime_user_exit()). Elsewhere a tick samples what it interrupts, and the kernel divides the exact sum
// by these samples (cputime_adjust()): a block of some milliseconds has few or none.
bool cpu_split_is_exact(const model::Head &head);

// What the sides used in all unprobed blocks that didn't fail.
struct UsageTotals {
	uint64_t messages = 0; // sent in every flow, warm-up included
	// Of the sides that begin, and of those that receive. Sums of differences; for max_rss_kib the maximum.
	std::array<model::Usage, 2> ends;
};

struct ResourceUse {
	std::optional<UsageTotals> totals; // nothing without an unprobed block
	// All CPU time in `totals` per message sent; both ends together are the cost of a message.
	std::optional<std::array<CpuTime, 2>> cpu_per_message;
	std::optional<double> daemon_cpu_ns_per_message; // used by the middleware's daemon, in addition
	std::optional<stats::Interval> cost_interval; // of cost_ns()
	// CPU time of both ends and of the daemon per message.
	std::optional<double> cost_ns() const;
};

class ResourcesOf {
public:
	void add(const SeenBlock &unprobed);
	ResourceUse take(stats::ClusteredBy clustered) const;

private:
	UsageTotals totals_;
	std::optional<double> daemon_ns_;
	std::vector<double> messages_, cost_ns_; // of each block
	std::vector<uint32_t> openings_; // likewise
};

} // namespace icepath::analysis
