// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a run besides its blocks.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/model/machine.h"

namespace icepath::model {

// A layer, and what it rests on in this run; `tier` is "tracepoint", "stamp", … or "none" with the reason in `probe`.
struct ProbeUse {
	std::string layer, probe, tier;
};

// Known before the first block.
struct Head {
	std::string icepath_version;
	std::string command_line;
	std::string started_utc; // ISO 8601
	std::string host_json; // kernel, cpu model, clock source, mitigations …: free-form JSON object
	std::string isolation_json; // what was and wasn't isolated: free-form JSON object
	std::vector<ProbeUse> probes;
	std::vector<Cell> cells;
	double budget_s = 60;
	// Of the run's CPUs, before the first block: as the machine has them idle, and, where cells are measured so, kept awake.
	std::vector<CpuWake> wakes = {}, wakes_held = {};
};

// Known after the last one.
struct Tail {
	std::string finished_utc;
	bool interrupted = false;
	uint32_t rounds = 0;
	std::vector<std::string> notices; // what the user must know: failed cells, loss, dropped storage
	std::vector<CpuWake> wakes = {}; // of the run's CPUs, after the last block, as the machine has them idle
	std::optional<Steal> steal = {};
	// Of what no probe tells, from before the first block to after the last.
	std::vector<InterruptCount> untraced_interrupts = {};
	std::vector<CacheLine> cache_lines = {}; // from the run's first CPU to each of the others
	std::vector<uint32_t> failed_openings =
		{}; // by cell: fresh processes that weren't ready to measure; tried again or given up
};

} // namespace icepath::model
