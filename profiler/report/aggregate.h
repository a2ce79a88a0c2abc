// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory resolved: every number that a report shows. A pure function of the container.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/graph.h"
#include "profiler/model/run.h"
#include "profiler/path/path.h"
#include "profiler/rate/outcome.h"
#include "profiler/report/breakdown.h"
#include "profiler/report/capture_counts.h"
#include "profiler/report/cell_openings.h"
#include "profiler/report/counters.h"
#include "profiler/report/messages.h"
#include "profiler/report/observer_effect.h"
#include "profiler/report/system_calls.h"
#include "profiler/stats/block_interval.h"

namespace icepath::report {

// The slowest message with a complete path, and what is needed to tell its story.
struct WorstMessage {
	path::Path path;
	uint32_t cell = 0, round = 0;
	uint64_t seq = 0;
	bool back = false;        // pingpong: the answer, from side 1 to side 0
	std::map<uint32_t, std::string> task_names; // of its threads and culprits
	std::map<uint32_t, uint32_t> cpus;          // where its threads were pinned
	uint64_t latency_ns() const { return path.recv_ns - path.send_ns; }
};

// Both together are the scheduler's own account of the thread, sum_exec_runtime; how they share it may be a guess: see
// cpu_split_is_exact().
struct CpuTime {
	double user_ns = 0, system_ns = 0;
	double total_ns() const { return user_ns + system_ns; }
};

// How fast messages went, at both ends: of each unprobed block from its first counted message to its last, the median of
// the blocks. Messages in both directions count. Nothing where no block has two messages.
struct Throughput {
	std::optional<double> sent_per_s, received_per_s;
};

// What the sides used in all unprobed blocks that didn't fail.
struct UsageTotals {
	uint64_t messages = 0; // sent in every flow, warm-up included
	// Of those that begin, and of those that receive: differences added up; max_rss_kib: the largest.
	std::array<model::Usage, 2> ends;
};

// Some of the deliveries in probed blocks, by their latency: from `from_ns` to `to_ns`, both included.
struct LatencyRange {
	uint64_t from_ns = 0, to_ns = UINT64_MAX;
	uint64_t messages = 0; // with such a latency
	Breakdown layers; // of those of them whose path is complete

	bool holds(uint64_t latency_ns) const { return from_ns <= latency_ns && latency_ns <= to_ns; }
	// See CellResult::tells_where().
	double share_known() const
	{
		return messages > 0 ? static_cast<double>(layers.deliveries()) / static_cast<double>(messages) : 1;
	}
	bool tells_where() const { return share_known() >= 0.9; }
};

struct CellResult {
	model::Cell cell;
	// max-rate: what the search came to. Every number below but blocks, capture and what its attempts lost is then of the blocks
	// that it tells of: blocks of different rates in one statistic would tell of none.
	std::optional<rate::Outcome> search;
	// A failed one is also in one of the others. A counted one is in neither: it is for `counters` alone.
	uint64_t blocks_probed = 0, blocks_unprobed = 0, blocks_counted = 0, blocks_failed = 0;
	uint64_t blocks_log_full = 0; // of blocks_probed: ended early, as a CPU's log was nearly full
	std::string failure; // of the last block that failed
	MessageCounts messages; // every block
	uint64_t probed = 0; // deliveries in probed blocks: complete() + all of `incomplete`
	std::array<uint64_t, path::kReasonNames.size()> incomplete{}; // by path::Reason; [None] stays 0
	CellOpenings openings; // in fresh processes
	stats::Distribution latency, round_trip, pacing, from_due; // unprobed blocks
	std::vector<stats::Distribution> by_flow; // latency, where there are several flows; as model::flows_of()
	stats::Distribution first_response; // several responses: see BlockLatencies
	stats::Distribution to_all; // several receivers: see BlockLatencies
	stats::Distribution send_call; // unprobed blocks
	stats::Distribution latency_probed; // probed blocks
	std::optional<double> jitter_ns; // mean of |D| within unprobed blocks and directions: see Jitter
	Throughput throughput;
	double probed_ns = 0; // latencies of all deliveries in probed blocks
	Breakdown layers;
	// From p40 to p60 of latency_probed, where there is a p50, and from its p99 on, where there is one. Each is a mean over the same messages for
	// every layer, so it adds up to their latency; percentiles of layers don't.
	std::optional<LatencyRange> typical, tail;
	Culprits culprits, tail_culprits;
	std::optional<WorstMessage> worst;
	ObserverEffect observer_effect;
	CaptureCounts capture;
	// Nothing without an unprobed block.
	std::optional<UsageTotals> usage;
	// Of all CPU time in `usage`, per message sent: both together are what a message costs.
	std::optional<std::array<CpuTime, 2>> cpu_per_message;
	std::optional<double> daemon_cpu_ns_per_message; // what the middleware's daemon used beside

	SystemCalls system_calls; // of a library's cell; probed blocks

	CounterTotals counters; // blocks without probes that didn't fail; the hardware's from counted ones

	uint64_t complete() const { return layers.deliveries(); }
	// How much of the messages and of their time is in paths that are known, the lesser of the two. Those that aren't are no sample of
	// them: mostly they are of messages that overlapped on their way through other threads, which are the ones that waited.
	double share_known() const;
	bool tells_where() const { return share_known() >= 0.9; } // enough that their mean stands for all
	bool tells_typical() const { return tells_where() && typical && typical->tells_where(); }
};

struct RunResult {
	model::Head head;
	std::optional<model::Tail> tail; // missing: the run is partial
	bool truncated = false;
	std::vector<CellResult> cells; // as in the head; one that was never measured has no blocks
	bool partial() const { return !tail || tail->interrupted; }
};

// Whether user and system time were measured. They are on CPUs of nohz_full alone, where the kernel looks at its clock
// whenever it is entered and left (vtime_user_exit()). Elsewhere each tick counts for what it happened to interrupt, and
// the kernel shares out the exact sum by these samples (cputime_adjust()): a block of some milliseconds has none or few.
bool cpu_split_is_exact(const model::Head &head);

// Reads the container twice: the layers of some latencies can only be added up when these are known. Memory grows with the
// latencies and send calls (8 bytes each) and with the blocks, not with the paths. Throws Failure(Usage) as rundir::Reader does.
RunResult analyse(const std::string &run);

} // namespace icepath::report
