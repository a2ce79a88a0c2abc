// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's data apart from its blocks and windows.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/model/machine.h"

namespace icepath::model {

// A layer and the probe that it rests on in this run. `tier` is "tracepoint", "stamp", … or "none" with the reason in
// `probe`.
struct ProbeUse {
	std::string layer, probe, tier;
};

// Known before the first block.
struct Head {
	std::string icepath_version;
	std::string command_line;
	std::string started_utc; // ISO 8601
	std::string host_json; // kernel, CPU model, clock source, mitigations …: free-form JSON object
	std::string isolation_json; // what was and wasn't isolated: free-form JSON object
	std::vector<ProbeUse> probes;
	std::vector<Cell> cells;
	double budget_s = 60;
	// Of the run's CPUs, before the first block: idling as the machine has it, and kept awake where cells are measured
	// so.
	std::vector<CpuWake> wakes = {}, wakes_held = {};
};

// Known after the last block.
struct Tail {
	std::string finished_utc;
	bool interrupted = false;
	uint32_t rounds = 0;
	std::vector<std::string> notices; // what the user must know: failed cells, loss, dropped storage
	std::vector<CpuWake> wakes = {}; // of the run's CPUs, after the last block, idling as the machine has it
	std::optional<Steal> steal = {};
	// Interrupts that no probe sees, counted from before the first block to after the last.
	std::vector<InterruptCount> untraced_interrupts = {};
	std::vector<CacheLine> cache_lines = {}; // from the run's first CPU to each of the others
	// By cell: fresh processes that weren't ready to measure, whether the cell was tried again or given up.
	std::vector<uint32_t> failed_openings = {};
};

} // namespace icepath::model
