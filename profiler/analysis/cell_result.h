// SPDX-License-Identifier: Apache-2.0
#pragma once
// All figures of a cell. Each is a result of its own, in a file of its own, and cell_figures.h collects it. Whoever
// shows a figure takes that result and not the cell, where it needs no other.
#include <optional>
#include <vector>

#include "profiler/analysis/block_counts.h"
#include "profiler/analysis/block_figures.h"
#include "profiler/analysis/capture_counts.h"
#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/cell_openings.h"
#include "profiler/analysis/cell_times.h"
#include "profiler/analysis/event_counts.h"
#include "profiler/analysis/followed_messages.h"
#include "profiler/analysis/functions.h"
#include "profiler/analysis/known_paths.h"
#include "profiler/analysis/latency_over_time.h"
#include "profiler/analysis/latency_ranges.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/analysis/messages.h"
#include "profiler/analysis/observer_effect.h"
#include "profiler/analysis/resource_use.h"
#include "profiler/analysis/socket_use.h"
#include "profiler/analysis/system_calls.h"
#include "profiler/analysis/thread_stacks.h"
#include "profiler/analysis/throughput.h"
#include "profiler/model/cell.h"
#include "profiler/rate/outcome.h"

namespace icepath::analysis {

struct CellResult {
	model::Cell cell;
	// max-rate: the result of the search. All that follows, except blocks, capture and what its attempts damaged, is
	// then of the blocks that it describes: one statistic over different rates would describe none.
	std::optional<rate::Outcome> search;

	// What was measured: every block.
	BlockCounts blocks;
	CellOpenings openings; // measured by fresh processes
	CaptureCounts capture;
	MessageCounts messages;
	SocketUse sockets; // every block whose messages are counted

	// How long messages took, by stamps.
	CellTimes times;
	LatencyOverTime over_time; // latency, by unprobed block
	CellModes modes;
	std::vector<stats::BlockValue> compared; // what ranks compare, of each block that has a p50
	ObserverEffect observer_effect;
	BlockFigures block_figures; // only if asked for

	// What that took of the machine: unprobed blocks that didn't fail.
	Throughput throughput; // failed blocks included
	ResourceUse used;
	CounterTotals counters; // hardware counters are from counted blocks

	// Where the time went, by paths: probed blocks.
	KnownPaths paths;
	TypicalAndTail ranges;
	FollowedMessages followed;
	SystemCalls system_calls; // of a library's cell
	Functions functions; // of all messages; sampled blocks
	ThreadStacks threads; // only if asked for

	Code code() const { return is_of_library() ? Code::OfLibrary : Code::OfSides; }
	bool is_of_library() const { return cell.kind == model::kAdapter; } // whose code is the sender's and the receiver's
};

inline std::optional<ModesOfP50> modes_of_p50(const CellResult &cell) { return cell.modes.of_p50(cell.times.latency); }

// Whether another run may have its p50 in another mode: a p50 isn't shown then.
inline bool lies_between_modes(const CellResult &cell)
{
	const auto of = modes_of_p50(cell);
	return of && !of->one();
}

} // namespace icepath::analysis
