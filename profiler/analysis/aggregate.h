// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run directory resolved: every number that a report shows. A pure function of the container.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/cell_blocks.h"
#include "profiler/analysis/event_counts.h"
#include "profiler/analysis/functions.h"
#include "profiler/analysis/latency_over_time.h"
#include "profiler/analysis/messages.h"
#include "profiler/analysis/ranking.h"
#include "profiler/analysis/socket_use.h"
#include "profiler/analysis/system_calls.h"
#include "profiler/analysis/thread_stacks.h"
#include "profiler/model/block.h"
#include "profiler/model/graph.h"
#include "profiler/model/run.h"
#include "profiler/path/path.h"
#include "profiler/rate/outcome.h"
#include "profiler/stats/block_interval.h"
#include "profiler/stats/cluster_share.h"

namespace icepath::analysis {

// A message with its path, and what it takes to explain it: one of the slowest with a complete path, or one that was
// asked for.
struct WorstMessage {
	path::Path path;
	uint32_t cell = 0, round = 0;
	uint64_t seq = 0;
	bool back = false; // pingpong: the answer, from side 1 to side 0
	std::map<uint32_t, std::string> task_names; // of its threads and culprits
	std::map<uint32_t, uint32_t> cpus; // where its threads were pinned
	uint64_t latency_ns() const { return path.recv_ns - path.send_ns; }
};

// The sum is the scheduler's own account of the thread, sum_exec_runtime. Its division may be a guess: see
// cpu_split_is_exact().
struct CpuTime {
	double user_ns = 0, system_ns = 0;
	double total_ns() const { return user_ns + system_ns; }
};

// Message rate at both ends: of each unprobed block from its first counted message to its last, then the median over
// blocks. Counts messages in both directions. Nothing if no block has two messages.
struct Throughput {
	std::optional<double> sent_per_s, received_per_s;
};

// What the sides used in all unprobed blocks that didn't fail.
struct UsageTotals {
	uint64_t messages = 0; // sent in every flow, warm-up included
	// Of the sides that begin, and of those that receive. Sums of differences; for max_rss_kib the maximum.
	std::array<model::Usage, 2> ends;
};

// Deliveries in probed blocks with a latency from `from_ns` to `to_ns`, both inclusive.
struct LatencyRange {
	uint64_t from_ns = 0, to_ns = UINT64_MAX;
	uint64_t messages = 0; // with such a latency
	Breakdown layers; // of those with a complete path

	bool holds(uint64_t latency_ns) const { return from_ns <= latency_ns && latency_ns <= to_ns; }
	// See CellResult::tells_where().
	double share_known() const
	{
		return messages > 0 ? static_cast<double>(layers.deliveries()) / static_cast<double>(messages) : 1;
	}
	bool tells_where() const { return share_known() >= 0.9; }
};

// One of several modes of a cell's messages: see cell_modes.h.
struct CellMode {
	LatencyRange range; // from valley to valley; messages and layers are those with probes
	stats::Distribution latency; // of unprobed blocks, within the range
	stats::Share share, share_probed; // of all messages of unprobed and of probed blocks
	stats::Share share_up_to; // of unprobed messages in this mode and in faster ones
	std::optional<stats::Effect> share_added; // what probes added to the share, by blocks with and without them

	static constexpr uint64_t kLeastSeen = 50; // messages with a complete path
	static constexpr size_t kLeastBlocksSeen = 5;
	bool seen_with_probes() const; // enough of it for layers
	bool tells_where() const { return seen_with_probes() && range.tells_where(); } // whose mean stands for all
	bool changed_by_probes() const; // the interval of share_added excludes 0
};

struct CellResult {
	model::Cell cell;
	// max-rate: the result of the search. All numbers below except blocks, capture and what its attempts lost are then
	// of the blocks that it describes: one statistic over different rates would describe none.
	std::optional<rate::Outcome> search;
	// A failed block also counts in one of the others. A counted block is neither probed nor unprobed, nor is a sampled
	// one: they serve for `counters` and for `functions` only.
	uint64_t blocks_probed = 0, blocks_unprobed = 0, blocks_counted = 0, blocks_sampled = 0, blocks_failed = 0;
	uint64_t blocks_log_full = 0; // of blocks_probed: ended early because a CPU's log was nearly full
	std::string failure; // of the last block that failed
	MessageCounts messages; // every block
	uint64_t probed = 0; // deliveries in probed blocks: complete() + all of `incomplete`
	std::array<uint64_t, path::kReasonNames.size()> incomplete{}; // by path::Reason; [None] stays 0
	CellOpenings openings; // measured by fresh processes
	stats::Distribution latency, round_trip, pacing, from_due; // unprobed blocks
	std::vector<stats::Distribution> by_flow; // latency, where there are several flows; in the order of Graph::flows
	stats::Distribution first_response; // several responses: see BlockLatencies
	stats::Distribution to_all; // several receivers: see BlockLatencies
	stats::Distribution send_call; // unprobed blocks
	stats::Distribution latency_probed; // probed blocks
	stats::Distribution latency_sampled; // sampled blocks
	std::vector<stats::BlockValue> compared; // what ranks compare, of each block that has a p50
	LatencyOverTime over_time; // latency, by unprobed block
	std::optional<double> jitter_ns; // mean of |D| within unprobed blocks and directions: see Jitter
	Throughput throughput;
	double probed_ns = 0; // latencies of all deliveries in probed blocks
	Breakdown layers;
	// From p40 to p60 of latency_probed, if it has a p50, and from its p99 on (or Wanted::tail), if it has one. Each is
	// a mean over the same messages for every layer, so its layers add up to their latency. Percentiles of layers
	// don't.
	std::optional<LatencyRange> typical, tail;
	// Where the tail begins without probes and with them; only if a result of its own was asked for (Wanted).
	std::optional<stats::Quantile> tail_begin, tail_begin_probed;
	Functions functions; // of all messages
	ThreadStacks threads; // only if asked for (Wanted)
	Culprits culprits, typical_culprits, tail_culprits;
	std::vector<CellMode> modes; // the fastest first; empty if the messages have one mode, as far as the run shows
	uint32_t modes_of_one_in = 1; // modes of a long run rest on one in so many groups of rounds: see WholeBlocks
	std::vector<WorstMessage> slowest; // with a complete path, the slowest first: at most kSlowest
	std::vector<WorstMessage> asked; // the deliveries of Wanted::message: several if it had several receivers
	ObserverEffect observer_effect;
	CaptureCounts capture;
	// Nothing without an unprobed block.
	std::optional<UsageTotals> usage;
	// All CPU time in `usage` per message sent; both ends together are the cost of a message.
	std::optional<std::array<CpuTime, 2>> cpu_per_message;
	std::optional<double> daemon_cpu_ns_per_message; // used by the middleware's daemon, in addition

	SystemCalls system_calls; // of a library's cell; probed blocks

	SocketUse sockets; // every block whose messages are counted
	CounterTotals counters; // unprobed blocks that didn't fail; hardware counters from counted blocks

	static constexpr size_t kSlowest = 5;
	// The slowest message with a complete path; nullptr: there is none.
	const WorstMessage *worst() const { return slowest.empty() ? nullptr : &slowest.front(); }
	uint64_t complete() const { return layers.deliveries(); }
	bool is_of_library() const { return cell.kind == model::kAdapter; } // whose code is the sender's and the receiver's
	// The share of messages, or of their time, with a known path: the lesser of the two. The others aren't like them:
	// most overlapped on their way through other threads, and so waited.
	double share_known() const { return std::min(messages_known(), time_known()); }
	double messages_known() const;
	double time_known() const;
	bool tells_where() const { return share_known() >= 0.9; } // enough that their mean stands for all
	bool tells_typical() const { return typical && typical->tells_where(); } // whatever time the others take
};

struct RunResult {
	model::Head head;
	std::optional<model::Tail> tail; // missing: the run is partial
	bool truncated = false;
	std::vector<CellResult> cells; // in the order of the head; a cell that was never measured has no blocks
	std::vector<model::CpuNoise> interference; // by CPU: see WorkerGaps
	std::vector<RankedGroup> ranking;
	uint64_t measured_ns = UINT64_MAX; // in all blocks: no message took longer
	stats::Percentile tail_from = stats::kP99; // of all cells' tails
	bool partial() const { return !tail || tail->interrupted; }
};

// Whether user and system time were measured. They are only on nohz_full CPUs, where the kernel reads the clock on each
// entry and exit (vtime_user_exit()). Elsewhere a tick samples what it interrupts, and the kernel divides the exact sum
// by these samples (cputime_adjust()): a block of some milliseconds has few or none.
bool cpu_split_is_exact(const model::Head &head);

// What isn't part of every report: another tail, and one message.
struct MessageName {
	uint32_t round = 0;
	uint64_t seq = 0;
	bool back = false; // the answer
};
struct Wanted {
	// Begin of the tail in explanations. A tail then needs stats::supported() only, and cells get `tail_begin`.
	std::optional<stats::Percentile> tail;
	std::optional<MessageName> message; // of every cell that has it
	bool threads = false; // CellResult::threads
	// How many values of a quantity are kept exactly (stats/block_values.h): the cells have equal shares of them, at
	// most a quarter.
	size_t most_values = 1u << 22;
};

// Reads the container twice, and three times if a cell searches for its rate: the layers of some latencies can be added
// up only when these are known. Memory grows with the messages up to Wanted::most_values, then with the blocks, and
// never with paths. Throws Failure(Usage) as rundir::Reader does.
RunResult analyse(const std::string &run, const Wanted &wanted = {});

// Results of the searches for a highest rate. They come before all other counting, because they determine which blocks
// count.
//
// One result for each cell of the run, nothing for a cell without a search. Reads the blocks only if some cell
// searches. Throws Failure(Usage) as rundir::Reader does.
std::vector<std::optional<rate::Outcome>> search_outcomes(const std::string &run);

} // namespace icepath::analysis
