// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run from its plan to its finished run directory: workers, rounds of blocks with and without probes, and what is kept
// when something dies. One thread, as the invoking user; what needs root is asked of the helper.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cpuset/kept_awake.h"
#include "profiler/failure.h"
#include "profiler/model/run.h"
#include "profiler/plan/plan.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/root_space.h"

namespace icepath::run {

struct SessionOptions {
	std::string directory; // of the run; made by the session
	double budget_s = 60; // for everything, from `started_ns` to the end of the report
	uint64_t started_ns = 0; // CLOCK_MONOTONIC when the program began
	uint32_t messages = 1000; // counted ones per block and direction, at most
	uint32_t records_per_slot = 1u << 16;
	std::optional<capture::Tier> forced_tier; // of probes: capture::in_order()
	privilege::RootSpace *root_space = nullptr; // for middleware, where the user may have no user namespace
	// Keeps CPUs awake in blocks of cells that are measured so (model::Cell); nullptr: nobody does, or the caller.
	cpuset::KeptAwake *awake = nullptr;
	bool locks_memory = false; // of workers
	std::string
		machine_root; // before paths of /sys that are looked at between blocks: tests have a machine of their own
	bool always_probed = false; // no round without probes: for who asks for layers alone
	// Called around each block, with its cell's number and the measuring threads by side: what puts an injection from outside
	// in, and what takes it away, which throws nothing. May be empty where no cell has one.
	std::function<void(size_t cell, const std::vector<uint32_t> &tids)> begin_injection;
	std::function<void()> end_injection;
	// Makes a report of what is in `directory` so far, so that the session learns how long that takes; may be empty.
	std::function<void()> rehearse_report;
};

struct SessionResult {
	bool interrupted = false;
	std::string broken_off; // why nothing could be measured any more; empty: it could
	uint32_t rounds = 0;
	size_t failed_cells = 0; // ended early, or came out without data
	bool has_data = false; // any message of any cell
	capture::Selection probes; // by which each can be had here
};

// How far a run has come, for a progress line.
struct Progress {
	uint32_t round = 0, rounds_expected = 0; // from 1; never above what is expected
	bool probed = false;
	std::string cell;
	double latency_p50_us = 0; // of the block that has just ended; 0: none
	double seconds_left = 0; // to the end of the report
};

// Runs the plan. `head` comes with host, isolation and command line filled; cells and probes are added here. Throws Failure
// where nothing could be measured at all: then there is no directory either. It is Failure(Interrupted) where the user
// wanted it so.
SessionResult run_session(const plan::Plan &plan, model::Head head, const SessionOptions &options,
						  privilege::Helper &helper, const std::function<void(const Progress &)> &tell);

// Asks the session, running or still to come, to stop after its current message. Async-signal-safe.
void interrupt_session();
bool is_interrupted();
// Throws Failure(Interrupted) if that was asked, for use before anything is measured.
inline void stop_if_interrupted()
{
	if (is_interrupted())
		throw Failure(ExitCode::Interrupted, "interrupted before anything was measured: nothing was kept");
}

} // namespace icepath::run
