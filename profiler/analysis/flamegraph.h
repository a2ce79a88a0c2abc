// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flame graphs' data: latency on messages' paths, or what threads do all the time, as a tree, and as files of other
// tools.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/analysis/run_result.h"
#include "profiler/model/cell_key.h"

namespace icepath::analysis {

enum class FlameKind : uint8_t { Path, OnCpu, OffCpu, Wakeup };
inline constexpr const char *kFlameKindNames[] = {"path", "oncpu", "offcpu", "wakeup"};
// What the kind's files begin with.
inline constexpr const char *kFlameFileNames[] = {"latency", "oncpu", "offcpu", "wakeup"};

// Cell → layer → part → thread → functions, from the outermost one on, where they were sampled. In kinds other than
// Path: cell → thread → functions. Only the last frames of a stack have a time of their own; that of the others is the
// sum of their children's.
struct FlameFrame {
	std::string name;
	std::optional<LayerKind> kind = {}; // of the last frame of a stack
	double mean_ns = 0; // of a message of its cell, as the rows of Breakdown
	double other_ns = 0; // the same in the run that it is compared with
	uint64_t total_ns = 0; // over all messages of its cell
	std::vector<FlameFrame> children = {};

	// Of all stacks in it.
	double mean() const;
	double other() const;
	double width() const; // the greater of both means, stack by stack: a stack that vanished is still seen
};

struct FlameCell {
	model::CellKey key;
	std::string target, variant; // as frames have them
	FlameFrame layers; // its name is the cell's title
};

struct FlameGraph {
	std::vector<FlameCell> cells; // those with a complete path, in the order of the run
	std::string other; // the run that it is compared with; empty: none
	std::vector<std::string> missing; // titles of cells that only one of the two runs has
	// Cells that aren't compared, although the other run has one with that title: the title, and in what they differ.
	std::vector<std::string> differing;
	FlameKind kind = FlameKind::Path;
};

enum class FlameMessages : uint8_t { All, Typical, Tail };
// Samples are of all messages, so only the graph of all messages has functions.
enum class FlameFunctions : uint8_t { Hidden, Shown };

// `only`: as cells_named() takes it. Typical and Tail take the latency ranges in CellResult, so only cells that have
// these.
FlameGraph flame_graph(const RunResult &result, FlameMessages which, const std::string &only,
					   FlameFunctions functions = FlameFunctions::Hidden);

// The graph of a kind other than Path: thread_stacks.h. `result`: with Wanted::threads. Throws Failure(Usage) if the
// run has no stacks.
FlameGraph thread_graph(const RunResult &result, FlameKind kind, const std::string &only);

// The frame for a function's own time, beside those of functions that it calls.
inline constexpr const char *kItself = "(itself)";

// `now`, with the times of the cells that both have in `before`: those with equal keys.
FlameGraph compared(const FlameGraph &now, const FlameGraph &before, const std::string &name);

} // namespace icepath::analysis
