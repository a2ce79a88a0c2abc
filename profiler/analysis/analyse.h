// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a run directory to the figures of its cells.
#include <cstddef>
#include <optional>
#include <string>

#include "profiler/analysis/followed_messages.h"
#include "profiler/analysis/run_result.h"
#include "profiler/stats/percentile.h"

namespace icepath::analysis {

// What isn't part of every report: another tail, one message, threads, figures of each block.
struct Wanted {
	// Begin of the tail in explanations. A tail then needs stats::supported() only, and cells get `tail_begin`.
	std::optional<stats::Percentile> tail;
	std::optional<MessageName> message; // of every cell that has it
	bool threads = false; // CellResult::threads
	bool block_figures = false; // CellResult::block_figures
	// How many values of a quantity are kept exactly (stats/block_values.h): the cells have equal shares of them, at
	// most a quarter.
	size_t most_values = 1u << 22;
};

// Reads the container twice, and three times if a cell searches for its rate: the layers of some latencies can be added
// up only when these are known. Memory grows with the messages up to Wanted::most_values, then with the blocks, and
// never with paths. Of a run of `icepath attach`, which has no cells, only the head: links.h has the rest. Throws
// Failure(Usage) as rundir::Reader does.
RunResult analyse(const std::string &run, const Wanted &wanted = {});

} // namespace icepath::analysis
