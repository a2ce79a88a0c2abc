// SPDX-License-Identifier: Apache-2.0
#pragma once
// Performs a run, from its plan to its finished run directory: workers, rounds of blocks with and without probes, and
// what is kept when something dies. One thread, as the invoking user; the helper does what needs root.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cpuset/kept_awake.h"
#include "profiler/failure.h"
#include "profiler/isolation/keeper.h"
#include "profiler/model/run.h"
#include "profiler/plan/plan.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/root_space.h"

namespace icepath::run {

struct SessionOptions {
	std::string directory; // of the run; made by the session
	double budget_s = 60; // from `started_ns` to the end of the report
	uint64_t started_ns = 0; // CLOCK_MONOTONIC when the program began
	uint32_t messages = 1000; // counted ones per block and direction, at most
	uint32_t records_per_slot = 1u << 16;
	std::optional<capture::Tier> forced_tier; // of probes: see capture::in_order()
	// For middleware, one for each arm, if the user may have no user namespaces.
	std::vector<privilege::RootSpace *> root_spaces;
	// Keeps CPUs awake in blocks of cells with IdleStates::Held; nullptr: the session doesn't.
	cpuset::KeptAwake *awake = nullptr;
	bool locks_memory = false; // of workers
	bool pins_library_threads = true; // to the CPU of their side
	cpuset::CpuList daemon_cpus; // where daemons of middleware run; empty: where icepath does
	isolation::Keeper *keeper = nullptr; // that has isolated; nullptr: not --isolate full
	std::string machine_root; // put before paths of /sys that are read between blocks, for tests
	bool samples = false; // functions, in some rounds: see rounds.h
	bool always_probed = false; // no round without probes, for a caller that needs layers only
	// Called around each block: begin_injection with the cell's number and its measuring threads by side,
	// end_injection, which must not throw, without arguments. May be empty.
	std::function<void(size_t cell, const std::vector<uint32_t> &tids)> begin_injection;
	std::function<void()> end_injection;
	// Makes a report of what `directory` holds so far; the session measures how long that takes. It must keep no
	// memory, because a run may be long. False: it failed. May be empty.
	std::function<bool()> rehearse_report;
};

struct SessionResult {
	bool interrupted = false;
	std::string broken_off; // why the run couldn't continue; empty: it could
	uint32_t rounds = 0;
	size_t failed_cells = 0; // given up, or without data
	bool has_data = false; // any message of any cell
	capture::Selection probes; // the chosen candidate of each probe, and why others failed
};

// Progress of a run, for a progress line.
struct Progress {
	uint32_t round = 0, rounds_expected = 0; // from 1; round <= rounds_expected
	bool probed = false;
	std::string cell;
	double latency_p50_us = 0; // of the last block; 0: unknown
	double seconds_left = 0; // to the end of the report
};

// Runs the plan. `head` has host, isolation and command line; the session adds cells and probes. Throws Failure if
// nothing could be measured (Interrupted if the user wanted that); then there is no directory either.
SessionResult run_session(const plan::Plan &plan, model::Head head, const SessionOptions &options,
						  privilege::Helper &helper, const std::function<void(const Progress &)> &report);

// Asks the session, running or not yet begun, to stop after its current message. Async-signal-safe.
void interrupt_session();
bool is_interrupted();
// Throws Failure(Interrupted) after interrupt_session(); for use before anything is measured.
inline void stop_if_interrupted()
{
	if (is_interrupted())
		throw Failure(ExitCode::Interrupted, "interrupted before anything was measured: nothing was kept");
}

} // namespace icepath::run
